//! Ends firings whose process is gone.
//!
//! A pass takes no input: it reads which rows of this host are alive, asks the system which
//! processes are, and concludes the difference. A firing whose process lives is left alone, by
//! whichever daemon it was started.

use std::fs::File;
use std::time::Duration;

use carson_config::Role;
use carson_core::settle::{Facts, Settled};
use carson_core::{FiringId, Outcome, Work};
use carson_forge::Claim;
use carson_git::{Oid, Worktree};
use carson_proc::{Cancel, ProcessId, reap_marked};
use carson_store::{Firing as Row, StoreError};
use chrono::TimeDelta;
use tracing::{error, info, warn};

use crate::bench::{Bench, MARKER};
use crate::conclude;
use crate::firing::{Ended, Firing, FiringError, Place, Taken};
use crate::household::Household;
use crate::stages::facts::{self, Findings};

/// How long a claimed firing may take to start before it counts as dead.
const START: TimeDelta = TimeDelta::seconds(30);
/// How long past its deadline a firing may run before it is ended from outside.
const OVERTIME: TimeDelta = TimeDelta::minutes(2);
/// Time between SIGTERM and SIGKILL for what a dead firing left running.
const GRACE: Duration = Duration::from_secs(5);

/// Concludes every dead firing of this host.
///
/// # Errors
/// When the store does not answer. Trouble with one firing is logged and does not stop the others.
pub async fn pass(house: &Household) -> Result<Vec<Ended>, StoreError> {
    let mut ended = Vec::new();
    // One recoverer at a time on a host: the daemon, or a `carson fire` beside it.
    let Some(_lock) = lock(house) else {
        return Ok(ended);
    };
    for row in house.store.live_firings(Some(&house.fleet.host)).await? {
        if is_alive(house, &row).await || !seize(house, &row).await? {
            continue;
        }
        match conclude_dead(house, &row).await {
            Ok(done) => ended.push(done),
            Err(error) => {
                error!(firing.id = %row.id, %error, "a dead firing could not be concluded");
            }
        }
    }
    Ok(ended)
}

fn lock(house: &Household) -> Option<File> {
    let file = File::create(house.fleet.home.state().join("recover.lock")).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Whether the row's process lives. One far past its deadline is ended here: its own watch failed.
async fn is_alive(house: &Household, row: &Row) -> bool {
    let now = house.clock.now();
    let Some(process) = process_of(row) else {
        return now - row.claimed_at < START;
    };
    // No firing runs in a process that recovers: its number in a row says that it seized that.
    if process == ProcessId::current() || !process.is_alive() {
        return false;
    }
    if now > row.deadline_at + OVERTIME {
        warn!(firing.id = %row.id, "the firing is past its deadline and is ended");
        return !process.terminate(GRACE).await;
    }
    true
}

fn process_of(row: &Row) -> Option<ProcessId> {
    Some(ProcessId {
        pid: row.pid?,
        start: row.pid_start?,
    })
}

/// Takes a row that no process ever took, so that one that starts late is refused. Whether the row
/// is dead for sure then.
async fn seize(house: &Household, row: &Row) -> Result<bool, StoreError> {
    if row.pid.is_some() {
        return Ok(true);
    }
    let (me, now) = (ProcessId::current(), house.clock.now());
    let seized = house.store.start_firing(row.id, me.pid, me.start, now);
    seized.await
}

/// Ends what is left of the process tree, then goes the way every firing goes.
async fn conclude_dead(house: &Household, row: &Row) -> Result<Ended, FiringError> {
    let left = reap_marked(MARKER, &row.id.to_string(), GRACE).await;
    info!(firing.id = %row.id, processes = left, "concluding a dead firing");
    let gone = Role::gone(row.role.clone(), house.fleet.zone);
    let role = house.fleet.roles.get(&row.role).unwrap_or(&gone);
    let firing = Firing::of_row(house, row, role, Cancel::new());
    find_again(&firing, row).await;
    let facts = facts::gather(&firing, None, Findings::default()).await;
    let (settled, facts) = match &row.settled {
        // It died after settle: its outcome stands.
        Some(settled) => (settled.clone(), row.facts.clone().unwrap_or(facts)),
        None => (crashed(row, &facts), facts),
    };
    conclude::conclude(&firing, settled, &facts).await
}

fn crashed(row: &Row, facts: &Facts) -> Settled {
    let stage = row.stage.map_or("before its first stage".to_owned(), |s| {
        format!("in stage {s}")
    });
    let mut reason = format!("the process of the firing was gone {stage}");
    if facts.commits > 0 || facts.dirty {
        reason.push_str(&format!("; left behind: {} commits", facts.commits));
        if facts.dirty {
            reason.push_str(" and uncommitted changes");
        }
    }
    Settled::new(Outcome::Crashed, reason)
}

/// Finds claim and worktree again, as far as the firing had come.
async fn find_again<'h>(firing: &Firing<'h>, row: &Row) {
    let (Some(repo), Some(key)) = (&row.repo, row.work) else {
        return;
    };
    let Some(repo) = firing.house.fleet.repos.get(repo) else {
        return;
    };
    match firing.house.forge(repo).await {
        Ok(forge) => {
            let issue = forge.issue(key.number()).await.ok();
            let clean = |title: &str| firing.house.redactor.redact(title).into_owned();
            let work = Work {
                key,
                title: issue
                    .as_ref()
                    .map_or_else(|| key.to_string(), |i| clean(&i.title)),
                body: String::new(),
                url: issue.map(|i| i.url).unwrap_or_default(),
                attempts: 0,
            };
            let claim = Claim {
                firing: row.id,
                role: row.role.clone(),
                host: row.host.clone(),
                at: row.claimed_at,
            };
            firing.take(Taken {
                repo,
                forge,
                work,
                claim,
            });
        }
        Err(error) => {
            warn!(firing.id = %row.id, %error, "the forge of a dead firing cannot be opened");
        }
    }
    let (Some(branch), Some(base)) = (&row.branch, row.base_sha.as_ref()) else {
        return;
    };
    let Ok(base) = base.parse::<Oid>() else {
        return;
    };
    let (mirror, bench) = (firing.house.mirror(repo), Bench::of(firing.house, row.id));
    let worktree = Worktree::open(&mirror, bench.tree(), branch.clone(), base);
    firing.set_place(Place::new(mirror, worktree, bench));
}

/// Whether a firing still needs its bench: pruning asks before it touches one.
pub(crate) async fn is_live(house: &Household, id: FiringId) -> Result<bool, StoreError> {
    Ok(house
        .store
        .firing(id)
        .await?
        .is_some_and(|row| row.ended_at.is_none()))
}
