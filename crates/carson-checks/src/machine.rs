//! What checks of the machine alone look at.

use carson_core::{Clock, HostName};
use carson_home::Home;
use carson_proc::sandbox::{self, Level, probe};
use carson_store::Store;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use tracing::warn;

/// Under which name what the sandbox reaches is kept.
const SANDBOX: &str = "sandbox";

/// So long it is believed of a machine that says nothing else of itself: not everything that it depends on can be read.
const BELIEVED: TimeDelta = TimeDelta::hours(1);

/// What the sandbox reaches, and what that depends on.
#[derive(Serialize, Deserialize)]
struct Reached {
    on: String,
    level: Level,
}

/// Knows what the sandbox reaches here, without asking where that was done lately; else it is asked, and kept for the
/// next firing, beside whatever comes next.
pub async fn know_sandbox(home: &Home) {
    let Some(on) = sandbox::circumstances() else {
        return;
    };
    let (store, host, now) = (&home.store, &home.fleet.host, home.clock.now());
    let kept = store.measured(host, SANDBOX).await.ok().flatten();
    let kept = kept.filter(|(_, at)| *at <= now && now - *at < BELIEVED);
    let kept = kept.and_then(|(kept, _)| serde_json::from_str::<Reached>(&kept).ok());
    if let Some(kept) = kept.filter(|kept| kept.on == on) {
        return sandbox::believe(kept.level);
    }
    let home = home.clone();
    drop(tokio::spawn(async move {
        let Ok(level) = tokio::task::spawn_blocking(probe).await else {
            return;
        };
        if level.launcher_failed().is_some() {
            return;
        }
        let Ok(kept) = serde_json::to_string(&Reached { on, level }) else {
            return;
        };
        Machine::of_firing(&home).keep(SANDBOX, &kept).await;
    }));
}

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
