//! `carson fire` and `carson firing run`

use std::path::PathBuf;
use std::time::Duration;

use carson_config::Role;
use carson_core::work::WorkKey;
use carson_core::{Clock, Outcome, RepoName, SkipKind};
use carson_firing::claim::{Wish, claim};
use carson_firing::{Claimed, FiringError, Household, dry_run, firing, recover};
use carson_proc::{Cancel, become_subreaper};
use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::{self, App};
use crate::args::Fire;
use crate::error::CommandError;
use crate::print::{self, counted};

pub async fn run(app: &App, args: &Fire) -> Result<u8, CommandError> {
    let house = app.house().await?;
    let role = app::role(&house.fleet, &args.role)?;
    let repo = args
        .repo
        .as_deref()
        .map(|name| app::repo(&house.fleet, Some(name)))
        .transpose()?;
    let wish = Wish {
        repo: repo.map(|repo| repo.name.clone()),
        work: args.work.map(WorkKey::Issue),
        ..Wish::default()
    };
    if let Some(repo) = wish.repo.as_ref().filter(|repo| !role.repos.contains(repo)) {
        return Err(elsewhere(role, repo));
    }
    if args.dry_run {
        return look(app, &house, role, &wish).await;
    }
    // What a crash left behind is concluded first: it may hold the role, or the work.
    recover::pass(&house).await?;
    match claim(&house, role, &wish).await? {
        Claimed::Won(id) => to_the_end(app, &house, id).await,
        Claimed::Skipped(reason) => {
            tell_skipped(app, &reason.to_string(), Some(reason.kind()));
            Ok(Outcome::Skipped.exit_code())
        }
        Claimed::Wait(why) => {
            tell_skipped(app, why, None);
            Ok(Outcome::Skipped.exit_code())
        }
        Claimed::Taken => {
            let why = "a firing of this role runs already";
            tell_skipped(app, why, Some(SkipKind::Overlap));
            Ok(Outcome::Skipped.exit_code())
        }
    }
}

/// `--repo` names a repository that exists, but this role never works there.
fn elsewhere(role: &Role, repo: &RepoName) -> CommandError {
    let known: Vec<&str> = role.repos.iter().map(RepoName::as_str).collect();
    let error = CommandError::usage(format!("role {} does not work in {repo}", role.name));
    error.hint(format!("it works in: {}", known.join(", ")))
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
    let house = app.house_of_a_firing().await?;
    to_the_end(&app, &house, id).await
}

async fn to_the_end(
    app: &App,
    house: &Household,
    id: carson_core::FiringId,
) -> Result<u8, CommandError> {
    become_subreaper()?;
    let cancel = cancel_on_signals()?;
    let ended = firing::run(house, id, cancel)
        .await
        .map_err(|error| match error {
            FiringError::Store(error) => error.into(),
            error => CommandError::failed(error.to_string()),
        })?;
    let outcome = ended.settled.outcome;
    if app.json {
        let row = house.store.firing(id).await?;
        print::json(&row);
    } else {
        print::line(&format!("{outcome}: {}", ended.settled.reason));
        if let Some(row) = house.store.firing(id).await? {
            super::firings::details(&row)
                .into_iter()
                .for_each(|line| print::line(&line));
        }
    }
    Ok(outcome.exit_code())
}

/// SIGTERM and Ctrl-C ask the firing to stop; it salvages and ends.
fn cancel_on_signals() -> Result<Cancel, CommandError> {
    let cancel = Cancel::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut asked = signal(kind)?;
        let cancel = cancel.clone();
        tokio::spawn(async move {
            if asked.recv().await.is_some() {
                cancel.cancel();
            }
        });
    }
    Ok(cancel)
}

async fn look(app: &App, house: &Household, role: &Role, wish: &Wish) -> Result<u8, CommandError> {
    let outlook = dry_run::look(house, role, wish).await?;
    if app.json {
        print::json(&outlook);
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
    print::line(&super::roles::egress(role));
    if let Some(sign_in) = &outlook.sign_in {
        print::line(&format!("signs in: {sign_in}"));
    }
    outlook.sandbox.iter().for_each(walls);
    print::line("environment of a session, and nothing else:");
    for variable in &outlook.environment {
        let dry_run::Shown { name, value, from } = variable;
        print::line(&format!("  {name}={value}    # {from}"));
    }
    Ok(0)
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

fn tell_skipped(app: &App, why: &str, skip: Option<SkipKind>) {
    if app.json {
        print::json(&json!({"outcome": "SKIPPED", "reason": why, "skip": skip}));
    } else {
        print::line(&format!("SKIPPED: {why}"));
    }
}
