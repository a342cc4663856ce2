//! Housekeeping: jobs that take no input and run beside the loop.
//!
//! Each looks at the world as it is, does a bounded amount of what there is to do, and says how it
//! went; what is left is found again next time. One that fails, hangs or panics stops no other.
//! [`all`] is the list; `runner.rs` runs one of them.

mod daily;
mod database;
mod leftovers;
mod memory;
mod mirrors;
mod room;
mod runner;
mod traces;
mod transcripts;

use std::sync::Arc;
use std::time::Duration;

use carson_firing::{ended_pulls, orphan_processes, recover, red_bases, roll_up, stale_claims};
use carson_home::Home;
use carson_operator::plans;
use tokio::sync::{Mutex, Notify};

use crate::health::Health;
use crate::heartbeat_url;
use crate::outbox::Poster;
use crate::watchdog::Pulse;
pub(crate) use database::{refused, takes_rows_again};
use runner::{Done, Job, Report};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
/// Less than a day, so that a job of the quiet hours finds them every night.
const NIGHTLY: Duration = Duration::from_secs(20 * 3_600);

/// Shares the newest settings with the jobs.
pub(crate) type Shared = Arc<std::sync::RwLock<Home>>;

/// What the jobs are connected with.
pub(crate) struct Wires {
    /// The newest settings.
    pub home: Shared,
    /// Asks for a recovery at once.
    pub recover_now: Arc<Notify>,
    /// Is told when a firing was ended: its role may fire again.
    pub freed: Arc<Notify>,
    /// Whether the loop turns.
    pub pulse: Pulse,
    /// What is wrong with the daemon itself.
    pub health: Health,
}

/// Starts all jobs.
///
/// # Errors
/// When the system gives them no timers.
pub(crate) fn start(wires: &Wires) -> std::io::Result<()> {
    for job in all(wires) {
        let (home, health) = (wires.home.clone(), wires.health.clone());
        tokio::spawn(runner::keep(job, runner::alarm()?, home, health));
    }
    Ok(())
}

/// Every job there is.
fn all(wires: &Wires) -> Vec<Job> {
    let poster = Arc::new(Mutex::new(Poster::default()));
    let (pulse, health) = (wires.pulse.clone(), wires.health.clone());
    let (recovering, living) = (health.clone(), health.clone());
    let last_rescue = Arc::new(Mutex::new(None));
    let told = Arc::new(Mutex::new(None));
    let settings = wires.home.clone();
    vec![
        Job::new("recover", 5 * SECOND, 30 * MINUTE, move |home| {
            let health = recovering.clone();
            async move { dead_firings(&home, &health).await }
        })
        .woken_by(&wires.recover_now)
        .telling(&wires.freed),
        Job::new("strays", MINUTE, 5 * MINUTE, stray_processes),
        Job::new("benches", HOUR, 15 * MINUTE, leftovers::benches),
        Job::new("layers", HOUR, 15 * MINUTE, leftovers::layers),
        Job::new("claims", HOUR, 15 * MINUTE, stale_claims),
        Job::new("merges", 10 * MINUTE, 15 * MINUTE, red_bases),
        Job::new("outbox", 5 * SECOND, 10 * MINUTE, move |home| {
            let poster = poster.clone();
            async move { posts(&home, &mut *poster.lock().await).await }
        })
        .quiet_success(),
        Job::new("approvals", 10 * SECOND, 5 * MINUTE, approvals),
        Job::new("daily", MINUTE, 5 * MINUTE, daily::post),
        Job::new("memory", HOUR, 3 * HOUR, move |home| {
            memory::gate(home, settings.clone())
        })
        .every(|fleet| fleet.memory.gate_every.unwrap_or(HOUR)),
        Job::new("vectors", MINUTE, 15 * MINUTE, memory::vectors),
        Job::new("transcripts", HOUR, 5 * MINUTE, transcripts::sweep),
        Job::new("rows", HOUR, 5 * MINUTE, leftovers::rows),
        Job::new("mirrors", NIGHTLY, HOUR, mirrors::tidy).at_night(),
        Job::new("checkpoint", HOUR, 5 * MINUTE, database::checkpoint),
        Job::new("check", NIGHTLY, HOUR, move |home| {
            let health = health.clone();
            async move { database::check(&home, &health).await }
        })
        .at_night(),
        Job::new("backup", NIGHTLY, HOUR, database::back_up).at_night(),
        Job::new("room", 30 * SECOND, 30 * MINUTE, move |home| {
            let last = last_rescue.clone();
            async move { room::watch(&home, &mut *last.lock().await).await }
        }),
        Job::new("traces", 30 * SECOND, 5 * MINUTE, move |home| {
            let told = told.clone();
            async move { traces::tell(&home, &mut *told.lock().await).await }
        })
        .quiet_success(),
        Job::new("alive", MINUTE, MINUTE, move |home| {
            let health = living.clone();
            async move { database::alive(&home, &health).await }
        })
        .quiet_success(),
        Job::new("heartbeat", HOUR, MINUTE, move |home| {
            let pulse = pulse.clone();
            async move { heartbeat(&home, &pulse).await }
        })
        .every(|fleet| fleet.heartbeat.every)
        .quiet_success(),
    ]
}

async fn dead_firings(home: &Home, health: &Health) -> Done {
    let pass = async {
        takes_rows_again(home, health).await?;
        recover::pass(home).await
    };
    let done = match pass.await {
        Ok(done) => done,
        Err(error) => {
            refused(health, &error);
            return Err(error_chain(error));
        }
    };
    let concluded = Report::counted(
        done.ended.len(),
        "dead firing concluded",
        "dead firings concluded",
    );
    let caught_up = Report::counted(
        done.caught_up.len(),
        "firing caught up with the forge",
        "firings caught up with the forge",
    );
    Ok(concluded.and(caught_up))
}

async fn stray_processes(home: Home) -> Done {
    let ended = orphan_processes::reap(&home).await.map_err(error_chain)?;
    Ok(Report::counted(
        ended as usize,
        "process of an ended firing ended",
        "processes of ended firings ended",
    ))
}

async fn stale_claims(home: Home) -> Done {
    let released = stale_claims::sweep(&home).await.map_err(error_chain)?;
    let released = Report::counted(
        released as usize,
        "stale claim released",
        "stale claims released",
    );
    let followed = ended_pulls::sweep(&home).await.map_err(error_chain)?;
    let followed = Report::counted(
        followed as usize,
        "ended pull request or its issue followed",
        "ended pull requests and their issues followed",
    );
    let closed = roll_up::sweep(&home).await.map_err(error_chain)?;
    let closed = Report::counted(
        closed as usize,
        "issue closed whose parts are done",
        "issues closed whose parts are done",
    );
    Ok(released.and(followed).and(closed))
}

async fn red_bases(home: Home) -> Done {
    let found = red_bases::sweep(&home).await.map_err(error_chain)?;
    Ok(Report::counted(
        found as usize,
        "merge that turned its base red told or taken back",
        "merges that turned their base red told or taken back",
    ))
}

async fn posts(home: &Home, poster: &mut Poster) -> Done {
    let sent = poster.drain(home).await.map_err(error_chain)?;
    Ok(Report::counted(sent as usize, "post sent", "posts sent"))
}

async fn approvals(home: Home) -> Done {
    let did = plans::follow(&home).await.map_err(error_chain)?;
    Ok(Report::counted(
        did as usize,
        "question noted, decided or closed",
        "questions noted, decided or closed",
    ))
}

async fn heartbeat(home: &Home, pulse: &Pulse) -> Done {
    if home.fleet.heartbeat.to.is_none() {
        return Ok(Report::nothing("no address is set"));
    }
    if !pulse.is_felt(30 * SECOND).await {
        return Err("the loop does not turn".into());
    }
    heartbeat_url::send(home).await?;
    Ok(Report::counted(1, "sign of life", ""))
}

/// An error with its causes, as one line.
fn error_chain(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
