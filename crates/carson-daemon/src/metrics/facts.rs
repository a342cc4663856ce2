//! What answers are made of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use carson_home::Home;
use carson_operator::Ask;
use carson_operator::metrics::Metrics;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tracing::warn;

use crate::health::Health;
use crate::jobs::Shared;
use crate::watchdog::Pulse;

/// How long the loop may take to come round.
const ROUND: Duration = Duration::from_secs(10);
/// How long the store may take.
const STORE: Duration = Duration::from_secs(5);
/// How long a text is the newest: to count all rows costs something, and anybody may ask.
const FRESH: Duration = Duration::from_secs(3);

/// What answers are made of.
pub(crate) struct Facts {
    pub shared: Shared,
    pub health: Health,
    pub pulse: Pulse,
    /// Nothing is fired any more.
    pub drains: Arc<AtomicBool>,
    /// The newest text, and since when it is that. Whoever comes while it is made waits for it.
    pub text: Mutex<Option<(Instant, String)>>,
}

impl Facts {
    pub(super) fn home(&self) -> Home {
        let home = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        home.clone()
    }

    /// The numbers as text.
    pub(super) async fn text(&self) -> Result<String, &'static str> {
        let mut newest = self.text.lock().await;
        if let Some((at, text)) = newest.as_ref()
            && at.elapsed() < FRESH
        {
            return Ok(text.clone());
        }
        let home = self.home();
        let asked = timeout(STORE, Metrics { since: None }.answer(&home)).await;
        let text = match asked {
            Ok(Ok(seen)) => seen.text(),
            Ok(Err(error)) => {
                warn!(%error, "the numbers cannot be told");
                return Err("the store does not answer");
            }
            Err(_) => return Err("the store does not answer in time"),
        };
        *newest = Some((Instant::now(), text.clone()));
        Ok(text)
    }

    /// Whether the loop comes round.
    pub(super) async fn healthy(&self) -> Result<(), &'static str> {
        match self.pulse.is_felt(ROUND).await {
            true => Ok(()),
            false => Err("the loop does not turn"),
        }
    }

    /// Whether something could be fired.
    pub(super) async fn ready(&self) -> Result<(), &'static str> {
        if self.drains.load(Ordering::Relaxed) {
            return Err("the daemon waits for its firings to end, and fires nothing");
        }
        let home = self.home();
        if self.health.lost().is_some() || home.store.still_there().is_err() {
            return Err("the database is lost: see the daemon's log");
        }
        match timeout(STORE, home.store.hosts()).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err("the store does not answer"),
        }
    }
}
