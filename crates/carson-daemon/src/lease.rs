//! The lease of this host, where it shares its database with others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use carson_core::Event;
use carson_firing::daemons::RENEW;
use carson_home::Home;
use carson_proc::ProcessId;
use carson_store::{Daemon, Lease, Renewal, StoreError, is_apart};
use chrono::TimeDelta;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tracing::{debug, error, info, warn};

use crate::health::Health;
use crate::jobs::{self, Shared};

/// How long a database may take to renew it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the others say of this host.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    drained: AtomicBool,
    newer: AtomicBool,
    /// Whether this host's clock is wrong.
    skewed: AtomicBool,
}

impl Standing {
    /// Whether nothing may be fired here now.
    pub(crate) fn forbids(&self) -> bool {
        let said = [&self.drained, &self.newer, &self.skewed];
        said.iter().any(|one| one.load(Ordering::Relaxed))
    }

    /// How far this host's clock is from the database's.
    fn set_clock(&self, ahead: TimeDelta) {
        let is_wrong = is_apart(ahead);
        match (self.skewed.swap(is_wrong, Ordering::Relaxed), is_wrong) {
            (false, true) => error!(
                ahead_s = ahead.num_seconds(),
                hint =
                    "set the clock of this machine, or of the database's: timedatectl set-ntp true",
                "this machine's clock is not the database's: nothing new fires here"
            ),
            (true, false) => info!("this machine's clock is right again: it fires again"),
            _ => {}
        }
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

fn labels(home: &Home) -> Vec<String> {
    home.fleet.labels.iter().map(ToString::to_string).collect()
}

/// Takes the lease, and says what was taken over while the others took this host for dead.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn take(home: &Home) -> Result<Option<Lease>, StoreError> {
    let (me, host, now) = (ProcessId::current(), &home.fleet.host, home.clock.now());
    let labels = labels(home);
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

/// Keeps it, as long as the daemon runs, and asks for a recovery at once when another host let its own lapse.
pub(crate) fn keep(
    shared: &Shared,
    lease: Option<Lease>,
    standing: &Arc<Standing>,
    (health, recover_now): (&Health, &Arc<Notify>),
) {
    let Some(mut lease) = lease else { return };
    let (shared, standing) = (Arc::clone(shared), Arc::clone(standing));
    let (health, recover_now) = (health.clone(), recover_now.clone());
    tokio::spawn(async move {
        loop {
            let home = shared
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let renewed = timeout(PATIENCE, renew(&home, &mut lease, &standing));
            match renewed.await {
                Ok(Ok(Kept::Quiet)) => {}
                Ok(Ok(Kept::BesideDead)) => recover_now.notify_one(),
                Ok(Ok(Kept::NoMore)) => return,
                // Another database has the address of the old one: nothing here is known there.
                Ok(Err(error)) if error.is_damage() => return jobs::refused(&health, &error),
                Ok(Err(error)) => debug!(%error, "the lease of this host was not renewed"),
                Err(_) => debug!("the database did not renew the lease of this host in time"),
            }
            sleep(RENEW).await;
        }
    });
}

/// What a renewal leaves to do.
enum Kept {
    /// Nothing.
    Quiet,
    /// Firings of a dead host are to be taken over.
    BesideDead,
    /// The lease is left to lapse.
    NoMore,
}

async fn renew(home: &Home, lease: &mut Lease, standing: &Standing) -> Result<Kept, StoreError> {
    // Its settings may be others by now.
    let labels = labels(home);
    let now = home.clock.now();
    let renewed = home
        .store
        .renew_lease(&home.fleet.host, *lease, &labels, now);
    match renewed.await? {
        Renewal::Held { newer: true, .. } => {
            standing.newer.store(true, Ordering::Relaxed);
            error!(
                hint = "install the same version on every host, and restart this daemon",
                "a newer carson brought the database on: nothing fires here, and the other hosts conclude what dies here"
            );
            return Ok(Kept::NoMore);
        }
        Renewal::Held {
            drained,
            now: theirs,
            ..
        } => {
            standing.drain(drained);
            // By the time that was sent, as the database has judged it: what is said here is read there.
            if let Some(theirs) = theirs {
                standing.set_clock(now - theirs);
            }
        }
        Renewal::Lost => {
            if let Some(taken) = take(home).await? {
                *lease = taken;
            }
        }
    }
    let lapsed = home.store.lapsed_firings(&home.fleet.host).await?;
    Ok(match lapsed.is_empty() {
        true => Kept::Quiet,
        false => Kept::BesideDead,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_whose_clock_is_wrong_fires_nothing_until_it_is_set() {
        let standing = Standing::default();
        for (ahead_s, forbids) in [(0, false), (30, false), (31, true), (-31, true), (5, false)] {
            standing.set_clock(TimeDelta::seconds(ahead_s));
            assert_eq!(standing.forbids(), forbids, "{ahead_s} s");
        }
        standing.drain(true);
        assert!(standing.forbids());
    }
}
