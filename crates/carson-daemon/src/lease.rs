//! The lease of this host, where it shares its database with others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use carson_core::Event;
use carson_home::Home;
use carson_proc::ProcessId;
use carson_store::{Daemon, Lease, Renewal, StoreError};
use tokio::time::{sleep, timeout};
use tracing::{debug, error, info, warn};

use crate::jobs::Shared;

/// A third of what a lease lasts.
const RENEW: Duration = Duration::from_secs(3);
/// How long a database may take to renew it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the others say of this host.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    drained: AtomicBool,
    newer: AtomicBool,
}

impl Standing {
    /// Whether nothing may be fired here now.
    pub(crate) fn forbids(&self) -> bool {
        self.drained.load(Ordering::Relaxed) || self.newer.load(Ordering::Relaxed)
    }

    fn drain(&self, drained: bool) {
        match (self.drained.swap(drained, Ordering::Relaxed), drained) {
            (false, true) => {
                info!("this host is drained: what runs goes on, and nothing new fires here");
            }
            (true, false) => info!("this host is drained no more: it fires again"),
            _ => {}
        }
    }
}

/// Whether another daemon renews the lease of this host: one that stands is looked at once more.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn is_kept_by_another(home: &Home) -> Result<bool, StoreError> {
    let host = &home.fleet.host;
    let Some(until) = home.store.lease_of(host).await? else {
        return Ok(false);
    };
    sleep(RENEW + Duration::from_secs(1)).await;
    Ok(home.store.lease_of(host).await? > Some(until))
}

/// Takes the lease, and says what was taken over while the others took this host for dead.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn take(home: &Home) -> Result<Option<Lease>, StoreError> {
    let (me, host, now) = (ProcessId::current(), &home.fleet.host, home.clock.now());
    let labels: Vec<String> = home.fleet.labels.iter().map(ToString::to_string).collect();
    let daemon = Daemon {
        pid: me.pid,
        pid_start: me.start,
        version: env!("CARGO_PKG_VERSION"),
        labels: &labels,
    };
    let Some(taken) = home.store.take_lease(host, &daemon, now).await? else {
        return Ok(None);
    };
    if let Some(since) = taken.lapsed_at {
        let firings = taken.fenced.len();
        let ids: Vec<String> = taken.fenced.iter().map(ToString::to_string).collect();
        warn!(
            %host, %since, firings, fenced = ids.join(" "),
            "this host was taken for dead: its firings were taken over, and what they made here is kept"
        );
        let event = Event::HostFenced {
            host: host.clone(),
            firings,
        };
        home.store.event(&event, None, None, now).await?;
    }
    Ok(Some(taken.lease))
}

/// Keeps it, as long as the daemon runs.
pub(crate) fn keep(shared: &Shared, lease: Option<Lease>, standing: &Arc<Standing>) {
    let Some(mut lease) = lease else { return };
    let (shared, standing) = (Arc::clone(shared), Arc::clone(standing));
    tokio::spawn(async move {
        loop {
            let home = shared
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let renewed = timeout(PATIENCE, renew(&home, &mut lease, &standing));
            match renewed.await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return,
                Ok(Err(error)) => debug!(%error, "the lease of this host was not renewed"),
                Err(_) => debug!("the database did not renew the lease of this host in time"),
            }
            sleep(RENEW).await;
        }
    });
}

/// Whether there is a lease to be kept on.
async fn renew(home: &Home, lease: &mut Lease, standing: &Standing) -> Result<bool, StoreError> {
    match home.store.renew_lease(&home.fleet.host, *lease).await? {
        Renewal::Held { newer: true, .. } => {
            standing.newer.store(true, Ordering::Relaxed);
            error!(
                hint = "install the same version on every host, and restart this daemon",
                "a newer carson brought the database on: nothing fires here, and the other hosts conclude what dies here"
            );
            return Ok(false);
        }
        Renewal::Held { drained, .. } => standing.drain(drained),
        Renewal::Lost => {
            if let Some(taken) = take(home).await? {
                *lease = taken;
            }
        }
    }
    Ok(true)
}
