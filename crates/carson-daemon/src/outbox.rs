//! Sends what is in the outbox, to every sink its own; a sink that is away delays its posts, loses
//! none, and holds up no other.
//!
//! When a sink does not answer, or asks to wait, everything for it waits: the oldest post is the one
//! that finds out whether it is back, so that an hour's posts still arrive in their order. Only a
//! post that the sink *refuses* steps aside, with its thread, for those behind it.
//!
//! A post is leased from the store, sent, and marked as sent. A poster that dies between the last
//! two leaves a lease that runs out, and the post is sent once more: twice rather than never.

mod line;
mod withheld;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carson_home::Home;
use carson_notify::Spec;
use carson_store::StoreError;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use line::{Desk, Line};

/// How long a pass waits for its lines: one that is slow goes on by itself, and the others have their
/// next pass meanwhile.
const PATIENCE: Duration = Duration::from_secs(1);

/// The one that posts: a line to each sink.
#[derive(Debug)]
pub struct Poster {
    patience: Duration,
    /// `None` while it is busy.
    lines: BTreeMap<&'static str, Option<Line>>,
    /// Dropped with the poster.
    busy: JoinSet<Ended>,
}

/// A line that has sent what was due.
type Ended = (&'static str, Line, Result<u32, StoreError>);

impl Default for Poster {
    fn default() -> Self {
        Self {
            patience: PATIENCE,
            lines: BTreeMap::new(),
            busy: JoinSet::new(),
        }
    }
}

impl Poster {
    /// Sends what is due; how many posts arrived. What was filed for a sink that is not in the
    /// settings waits until it is there again.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn drain(&mut self, home: &Home) -> Result<u32, StoreError> {
        let desk = Desk {
            store: home.store.clone(),
            clock: home.clock.clone(),
            redactor: home.redactor.clone(),
        };
        self.drain_to(&home.fleet.sinks, &desk).await
    }

    async fn drain_to(&mut self, sinks: &[Arc<dyn Spec>], desk: &Desk) -> Result<u32, StoreError> {
        for spec in sinks {
            let line = self.lines.entry(spec.name());
            let Some(mut line) = line.or_insert_with(|| Some(Line::default())).take() else {
                continue;
            };
            let (spec, desk) = (spec.clone(), desk.clone());
            self.busy.spawn(async move {
                let sent = line.drain(&*spec, &desk).await;
                (spec.name(), line, sent)
            });
        }
        let (mut sent, until) = (0, Instant::now() + self.patience);
        while let Ok(Some(ended)) = timeout_at(until, self.busy.join_next()).await {
            sent += self.ended(ended)?;
        }
        Ok(sent)
    }

    fn ended(&mut self, ended: Result<Ended, JoinError>) -> Result<u32, StoreError> {
        match ended {
            Ok((name, line, sent)) => {
                self.lines.insert(name, Some(line));
                sent
            }
            Err(error) => {
                // Nobody knows whose it was: all begin anew.
                self.busy = JoinSet::new();
                self.lines.retain(|_, line| line.is_some());
                match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => Ok(0),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
