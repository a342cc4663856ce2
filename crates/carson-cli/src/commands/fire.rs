//! `carson fire` and `carson firing run`

mod live;

use std::path::PathBuf;
use std::time::Duration;

use carson_core::text::counted;
use carson_core::{Clock, FiringId};
use carson_firing::dry_run::{self, Outlook};
use carson_firing::{Ended, FiringError, Steps, run};
use carson_home::Home;
use carson_operator::fire::{DryRun, Fire, Fired};
use carson_operator::{Ask, names};
use carson_proc::{Cancel, become_subreaper};
use chrono::{DateTime, Utc};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::args;
use crate::error::CommandError;
use crate::{log, print};

pub async fn run(app: &App, args: args::Fire) -> Result<u8, CommandError> {
    let home = app.home().await?;
    let args::Fire {
        role,
        repo,
        work,
        dry_run,
    } = args;
    if dry_run {
        let outlook = DryRun { role, repo, work }.answer(&home).await?;
        return print_outlook(app, &home, &outlook);
    }
    match (Fire { role, repo, work }).claim(&home).await? {
        Fired::Claimed { firing } => shown_to_the_end(app, &home, firing).await,
        Fired::Skipped(skipped) => {
            let text = format!("{}: {}", skipped.outcome, skipped.reason);
            print::done(app.json, &text, &skipped);
            Ok(skipped.outcome.exit_code())
        }
    }
}

/// The longest that a firing waits for its instant: a clock that was set meanwhile must not hold it.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Waits until a firing that was started ahead is due.
pub fn wait_for(at: Option<DateTime<Utc>>) {
    let Some(at) = at else { return };
    let clock = Clock::system();
    if let Ok(wait) = (at - clock.now()).to_std() {
        std::thread::sleep(wait.min(WAIT_MAX));
    }
    let late = clock.now() - at;
    let late_us = late.num_microseconds().unwrap_or(i64::MAX);
    tracing::info!(late_us, "firing begins");
}

/// Runs a firing that the daemon claimed.
pub async fn run_claimed(
    app: &App,
    id: &str,
    settings: Option<PathBuf>,
) -> Result<u8, CommandError> {
    let id = id
        .parse()
        .map_err(|_| CommandError::usage(format!("{id:?} is not a firing's id")))?;
    let app = app.with_settings(settings);
    let home = app.home_of_a_firing().await?;
    let ended = run_it(&home, id, Steps::default()).await?;
    tell_end(&app, &home, id, ended).await
}

/// Runs it in this terminal, which shows what passes; its log is kept all the same.
async fn shown_to_the_end(app: &App, home: &Home, id: FiringId) -> Result<u8, CommandError> {
    if let Err(error) = log::keep(&home.fleet.layout.firing_log(&id)) {
        print::error(&format!("warning: its log cannot be kept: {error}"));
    }
    let (steps, passing) = Steps::watched();
    let shown = tokio::spawn(live::show(id, passing));
    let ran = run_it(home, id, steps).await;
    // It ends with the last step; one that cannot show them says nothing of the firing.
    let _ = shown.await;
    tell_end(app, home, id, ran?).await
}

async fn run_it(home: &Home, id: FiringId, steps: Steps) -> Result<Ended, CommandError> {
    become_subreaper()?;
    let cancel = cancel_on_signals()?;
    let ended = run::run(home, id, cancel, steps).await;
    ended.map_err(|error| match error {
        FiringError::Store(error) => error.into(),
        error => CommandError::failed(error.to_string()),
    })
}

async fn tell_end(app: &App, home: &Home, id: FiringId, ended: Ended) -> Result<u8, CommandError> {
    let outcome = ended.settled.outcome;
    if app.json {
        let row = home.store.firing(id).await?;
        print::json(&row);
    } else {
        print::line(&format!("{outcome}: {}", ended.settled.reason));
        if let Some(row) = home.store.firing(id).await? {
            super::firings::details(&row)
                .into_iter()
                .for_each(|line| print::line(&line));
        }
    }
    Ok(outcome.exit_code())
}

/// Every signal that would end the process asks the firing to stop; it salvages and ends.
fn cancel_on_signals() -> Result<Cancel, CommandError> {
    let cancel = Cancel::new();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        // The terminal was closed.
        SignalKind::hangup(),
        SignalKind::quit(),
        SignalKind::alarm(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
    ] {
        let mut asked = signal(kind)?;
        let cancel = cancel.clone();
        tokio::spawn(async move {
            if asked.recv().await.is_some() {
                print::error("asked to stop: its session ends, and its work is saved");
                cancel.cancel();
            }
        });
    }
    Ok(cancel)
}

fn print_outlook(app: &App, home: &Home, outlook: &Outlook) -> Result<u8, CommandError> {
    if app.json {
        print::json(outlook);
        return Ok(0);
    }
    print::line(&format!("{}: {}", outlook.role, outlook.admission));
    let account = outlook.account.as_deref().unwrap_or("none is free");
    print::line(&format!("account: {account}"));
    match &outlook.work {
        Some(work) => {
            print::line(&format!(
                "work: {} #{} {}",
                work.repo, work.number, work.title
            ));
        }
        None => print::line("work: none is ready"),
    }
    let stages: Vec<&str> = outlook.stages.iter().map(|stage| stage.as_str()).collect();
    print::line(&format!("stages: {}", stages.join(" → ")));
    print::line(&format!(
        "at most: {}, {}",
        counted(outlook.worst_case.sessions, "session"),
        counted(outlook.worst_case.turns, "turn")
    ));
    print::line(&super::roles::egress(names::role(
        &home.fleet,
        &outlook.role,
    )?));
    if let Some(sign_in) = &outlook.sign_in {
        print::line(&format!("signs in: {sign_in}"));
    }
    workspace(&outlook.workspace);
    outlook.sandbox.iter().for_each(walls);
    print::line("environment of a session, and nothing else:");
    for variable in &outlook.environment {
        let dry_run::Shown { name, value, from } = variable;
        print::line(&format!("  {name}={value}    # {from}"));
    }
    Ok(0)
}

fn workspace(workspace: &dry_run::Workspace) {
    let because = workspace.because.iter().map(|why| format!(": {why}"));
    let because: String = because.collect();
    print::line(&format!("workspace: {}{because}", workspace.kind));
    for line in &workspace.setup {
        print::line(&format!("  setup  {line}"));
    }
}

fn walls(walls: &dry_run::Walls) {
    let list = |what: &str, paths: &[PathBuf]| {
        let mut paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        paths.sort();
        paths
            .iter()
            .for_each(|path| print::line(&format!("  {what} {path}")));
    };
    print::line(&format!("sandbox of an execute session: {}", walls.asked));
    print::line("  reads  the system's own places");
    list("reads ", &walls.read);
    list("writes", &walls.write);
    list("closed", &walls.hidden);
    print::line("what this machine can do:");
    for line in walls.level.to_string().lines() {
        print::line(&format!("  {line}"));
    }
}
