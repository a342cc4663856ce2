//! Numbers, and signs of life, for who asks over HTTP (`[metrics]`).
//!
//! `/metrics` is what `carson metrics` prints. `/healthz` is the watchdog's own question: whether the loop comes
//! round. `/readyz` says whether something could be fired now: not while the store is away, and not while this
//! daemon only waits for its firings to end. None of them takes a password, says a secret, or changes anything.

mod facts;
mod serve;

use std::convert::Infallible;
use std::sync::Arc;

use carson_config::Metrics as Settings;
use tokio::task::JoinHandle;

pub(crate) use facts::Facts;

use crate::faces::Tell;

/// What is served now. Dropping it ends that.
pub(crate) struct Face {
    facts: Arc<Facts>,
    tell: Tell,
    served: Option<Served>,
}

struct Served {
    settings: Settings,
    task: JoinHandle<Infallible>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Face {
    /// Nothing yet; whether its address can be had is told.
    pub(crate) fn of(facts: Facts, tell: Tell) -> Self {
        Self {
            facts: Arc::new(facts),
            tell,
            served: None,
        }
    }

    /// Serves where the settings of now say.
    pub(crate) fn follow(&mut self) {
        let wanted = self.facts.home().fleet.metrics.clone();
        if self.served.as_ref().map(|served| &served.settings) == wanted.as_ref() {
            return;
        }
        // The old one lets its address go first.
        self.served = None;
        (self.tell)(None);
        self.served = wanted.map(|settings| Served {
            task: tokio::spawn(serve::keep(
                settings.clone(),
                self.facts.clone(),
                self.tell.clone(),
            )),
            settings,
        });
    }
}

#[cfg(test)]
mod tests;
