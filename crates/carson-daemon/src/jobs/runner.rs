//! Runs one job, again and again.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use carson_config::Fleet;
use carson_core::Event;
use carson_home::Home;
use carson_store::JobRow;
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use tokio::sync::Notify;
use tracing::{info, warn};

use super::{MINUTE, Shared};
use crate::health::Health;
use crate::wall_clock_timer::Alarm;

/// A job that did nothing new writes its row no more often than this.
const NEWS: TimeDelta = TimeDelta::minutes(10);
/// A job that was never run, or long ago, does not wait for the night; but for the start.
const SETTLE: TimeDelta = TimeDelta::minutes(10);
/// Where the wall clock stands at a multiple of this, jobs run together.
const STEP: TimeDelta = TimeDelta::seconds(5);

/// How a run went.
pub(crate) type Done = Result<Report, String>;
type Running = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub did: usize,
    pub said: String,
}

impl Report {
    pub(crate) fn nothing(said: &str) -> Self {
        Self {
            did: 0,
            said: said.to_owned(),
        }
    }

    /// So many of something, in words for one and for several.
    pub(crate) fn counted(did: usize, one: &str, several: &str) -> Self {
        let said = match did {
            0 => "nothing to do".to_owned(),
            1 => format!("1 {one}"),
            _ => format!("{did} {several}"),
        };
        Self { did, said }
    }

    /// Both, in words for what was done of them.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self.did, other.did) {
            (_, 0) => self,
            (0, _) => other,
            (did, more) => Self {
                did: did + more,
                said: format!("{}, {}", self.said, other.said),
            },
        }
    }
}

/// One job.
pub(crate) struct Job {
    name: &'static str,
    every: Box<dyn Fn(&Fleet) -> Duration + Send + Sync>,
    within: Duration,
    at_night: bool,
    loud: bool,
    wake: Option<Arc<Notify>>,
    tell: Option<Arc<Notify>>,
    run: Box<dyn Fn(Home) -> Running + Send + Sync>,
}

impl Job {
    /// A job that runs this often, and is dropped when it takes longer than `within`.
    pub(crate) fn new<F: Future<Output = Done> + Send + 'static>(
        name: &'static str,
        every: Duration,
        within: Duration,
        run: impl Fn(Home) -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            every: Box::new(move |_| every),
            within,
            at_night: false,
            loud: true,
            wake: None,
            tell: None,
            run: Box::new(move |home| Box::pin(run(home))),
        }
    }

    /// As often as the settings say.
    pub(crate) fn every(mut self, every: fn(&Fleet) -> Duration) -> Self {
        self.every = Box::new(every);
        self
    }

    /// Only in the quiet hours.
    pub(crate) fn at_night(mut self) -> Self {
        self.at_night = true;
        self
    }

    /// What it does every time is no news.
    pub(crate) fn quiet_success(mut self) -> Self {
        self.loud = false;
        self
    }

    /// Runs at once when this is notified.
    pub(crate) fn woken_by(mut self, wake: &Arc<Notify>) -> Self {
        self.wake = Some(wake.clone());
        self
    }

    /// Notifies this when it did something.
    pub(crate) fn telling(mut self, tell: &Arc<Notify>) -> Self {
        self.tell = Some(tell.clone());
        self
    }

    /// When it runs again after a run at `now`.
    fn next(&self, fleet: &Fleet, now: DateTime<Utc>) -> DateTime<Utc> {
        let every = span((self.every)(fleet));
        if self.at_night {
            fleet.housekeeping.quiet.next(now + every, fleet.zone)
        } else {
            together(now + every, every)
        }
    }

    /// When it runs first, in a daemon that starts `now`.
    fn first(&self, fleet: &Fleet, last: Option<&JobRow>, now: DateTime<Utc>) -> DateTime<Utc> {
        if !self.at_night {
            return now;
        }
        // Where nights pass without us, heavy work is done by day, but not at the very start.
        let overdue = now - span((self.every)(fleet)) * 3;
        match last {
            Some(row) if row.ended_at > overdue => row.next_at.min(self.next(fleet, now)),
            _ => now + SETTLE,
        }
    }
}

/// Jobs whose time between two runs is a number of full steps run at full steps, so that an idle machine
/// wakes once for all of them.
fn together(at: DateTime<Utc>, every: TimeDelta) -> DateTime<Utc> {
    let steps = every >= STEP && every.num_milliseconds() % STEP.num_milliseconds() == 0;
    if steps {
        at.duration_round(STEP).unwrap_or(at)
    } else {
        at
    }
}

fn span(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::days(1))
}

pub(super) fn newest(shared: &Shared) -> Home {
    let home = shared.read().unwrap_or_else(PoisonError::into_inner);
    home.clone()
}

/// What wakes a job. Where a set clock does not end a wait, it is noticed within a minute.
///
/// # Errors
/// When the system has no timer left.
pub(crate) fn alarm() -> std::io::Result<Alarm> {
    Alarm::new(MINUTE)
}

/// Runs a job for as long as the daemon lives.
pub(crate) async fn keep(job: Job, alarm: Alarm, shared: Shared, health: Health) {
    let home = newest(&shared);
    let rows = home.store.jobs(Some(&home.fleet.host)).await;
    let mut last = rows
        .unwrap_or_default()
        .into_iter()
        .find(|row| row.name == job.name);
    let mut due = job.first(&home.fleet, last.as_ref(), home.clock.now());
    let mut noted = None;
    loop {
        wait(&job, &alarm, &shared, &mut due).await;
        let home = newest(&shared);
        due = job.next(&home.fleet, home.clock.now());
        if health.lost().is_some() {
            continue;
        }
        let row = once(&job, &home, last.as_ref()).await;
        due = row.next_at;
        if is_news(&job, &row, last.as_ref(), noted) {
            noted = Some(row.ended_at);
            record_run(&job, &home, &row, last.as_ref()).await;
        }
        last = Some(row);
    }
}

/// Waits until the job is due or woken. A clock that was set back brings the job no later than after
/// its usual time.
async fn wait(job: &Job, alarm: &Alarm, shared: &Shared, due: &mut DateTime<Utc>) {
    loop {
        let home = newest(shared);
        let now = home.clock.now();
        *due = (*due).min(job.next(&home.fleet, now));
        if *due <= now {
            return;
        }
        let woken = async {
            match &job.wake {
                Some(wake) => wake.notified().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = woken => return,
            () = alarm.wait(Some(*due), now) => {}
        }
    }
}

/// One run, whatever becomes of it.
pub(crate) async fn once(job: &Job, home: &Home, last: Option<&JobRow>) -> JobRow {
    let started_at = home.clock.now();
    let mut task = tokio::spawn((job.run)(home.clone()));
    let done = match tokio::time::timeout(job.within, &mut task).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err("a bug in Carson: the job panicked; its log has more".to_owned()),
        Err(_) => {
            task.abort();
            Err(format!(
                "it took longer than {} s and was given up",
                job.within.as_secs()
            ))
        }
    };
    let ended_at = home.clock.now();
    let failures = last.map_or(0, |row| row.failures);
    let (did, failures, said) = match done {
        Ok(report) => (report.did, 0, report.said),
        Err(why) => (0, failures.saturating_add(1), why),
    };
    if did > 0
        && let Some(tell) = &job.tell
    {
        tell.notify_one();
    }
    JobRow {
        host: home.fleet.host.to_string(),
        name: job.name.to_owned(),
        started_at,
        ended_at,
        next_at: job.next(&home.fleet, ended_at),
        did: i64::try_from(did).unwrap_or(i64::MAX),
        failures,
        said,
    }
}

/// Whether a run is worth a write to the disk.
fn is_news(job: &Job, row: &JobRow, last: Option<&JobRow>, noted: Option<DateTime<Utc>>) -> bool {
    let stale = noted.is_none_or(|at| (row.ended_at - at).abs() >= NEWS);
    let changed = last.is_none_or(|last| (last.failures > 0) != (row.failures > 0));
    stale || changed || (job.loud && row.did > 0)
}

/// Log, row, and an event for what an operator may look for later.
async fn record_run(job: &Job, home: &Home, row: &JobRow, last: Option<&JobRow>) {
    let failed_before = last.is_some_and(|last| last.failures > 0);
    let (name, did, said) = (row.name.clone(), row.did, row.said.clone());
    let event = match (row.failures > 0, failed_before) {
        (true, false) => Some(Event::JobFailed {
            job: name,
            did,
            said,
        }),
        (false, true) => Some(Event::JobMended {
            job: name,
            did,
            said,
        }),
        (false, false) if job.loud && did > 0 => Some(Event::JobDone {
            job: name,
            did,
            said,
        }),
        _ => None,
    };
    match &event {
        Some(Event::JobFailed { .. }) => warn!(job = job.name, why = row.said, "a job failed"),
        Some(_) => info!(job = job.name, did = row.said, "a job is done"),
        None => {}
    }
    let written = async {
        home.store.job_ran(row).await?;
        if let Some(event) = &event {
            home.store.event(event, None, None, row.ended_at).await?;
        }
        Ok::<(), carson_store::StoreError>(())
    };
    if let Err(error) = written.await {
        warn!(job = job.name, %error, "its run could not be noted");
    }
}

#[cfg(test)]
mod tests;
