//! What checks of the machine alone look at.

use carson_core::{Clock, HostName};
use carson_home::Home;
use carson_proc::sandbox::{Level, probe};
use carson_store::Store;
use tracing::warn;

/// The machine, for this user.
#[derive(Debug)]
pub struct Machine {
    pub(crate) clock: Clock,
    /// Where a firing finds what was measured before.
    known: Option<(Store, HostName)>,
}

impl Machine {
    /// This one, with what the clock says.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, known: None }
    }

    /// The same for a firing, which believes what was measured before.
    pub(crate) fn of_firing(home: &Home) -> Self {
        Self {
            clock: home.clock.clone(),
            known: Some((home.store.clone(), home.fleet.host.clone())),
        }
    }

    /// What was measured before, for who believes it.
    pub(crate) async fn known(&self, what: &str) -> Option<String> {
        let (store, host) = self.known.as_ref()?;
        Some(store.measured(host, what).await.ok()??.0)
    }

    /// Keeps what was measured, as far as that is possible.
    pub(crate) async fn keep(&self, what: &str, value: &str) {
        let Some((store, host)) = &self.known else {
            return;
        };
        let kept = store
            .keep_measured(host, what, value, self.clock.now())
            .await;
        if let Err(error) = kept {
            warn!(%error, what, "a measured fact could not be kept");
        }
    }

    /// What the kernel can do for sessions.
    pub(crate) fn level(&self) -> Level {
        probe()
    }
}
