//! `carson fire` and `carson firing run`

mod live;
mod outlook;
mod without_home;
mod work_for;

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::Duration;

use carson_core::{Clock, FiringId, Outcome};
use carson_firing::{Ended, FiringError, Steps, run};
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::fire::{DryRun, Fire, Fired, Skipped};
use carson_operator::why::{Reasons, Why};
use carson_proc::{Cancel, GivesWay, become_subreaper, own_path};
use chrono::{DateTime, Utc};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::args;
use crate::error::{CommandError, ErrorKind};
use crate::{log, print};

/// Runs a role's firing here, to its end.
///
/// Like whoever runs a claimed one it ends with its process, and closes nothing before: the last connection of a database
/// that is closed moves its log into the file first, and waits for the disk.
pub async fn run(app: &App, args: args::Fire) -> Result<u8, CommandError> {
    if args.dry_run {
        return look_ahead(app, args).await;
    }
    get_ready_to_redact();
    let home = ManuallyDrop::new(app.home().await?);
    look_at_path(&home);
    let args::Fire {
        role,
        repo,
        work,
        story,
        force: _,
        reason,
        dry_run: _,
        all: _,
    } = args;
    let asked = Fire {
        role: role.clone(),
        repo,
        work,
        story,
    };
    let fired = match reason {
        Some(reason) => asked.claim_forced(&home, &reason).await?,
        None => asked.claim(&home).await?,
    };
    match fired {
        Fired::Claimed { firing, over } => {
            for stop in over {
                print::error(&print::flat(&format!("fires over this: {stop}")));
            }
            shown_to_the_end(app, &home, firing).await
        }
        Fired::Skipped(skipped) => {
            let text = format!("{}: {}", skipped.outcome, skipped.reason);
            print::done(app.json, &text, &skipped);
            if let Some(change) = what_ends(app, &home, role, &skipped).await {
                print::error(&format!("to change it: {change}"));
            }
            Ok(skipped.outcome.exit_code())
        }
    }
}

/// How long a look ahead that is to end may put away what it made in a home.
const PUT_AWAY: Duration = Duration::from_secs(15);

/// Says what would be done, in the home that is there, or in one as it would be made. Nothing is said by one that was
/// stopped: what it had not asked yet could say otherwise.
async fn look_ahead(app: &App, args: args::Fire) -> Result<u8, CommandError> {
    become_subreaper()?;
    let cancel = cancel_on_signals("asked to stop: the look ahead ends")?;
    let stopped = async {
        cancel.cancelled().await;
        tokio::time::sleep(PUT_AWAY).await;
    };
    let looked = async {
        match app.layout.settings().exists() {
            true => looked_ahead(app, args, cancel.clone()).await,
            // Nothing of that home is put away by itself: it goes as a whole.
            false => tokio::select! {
                looked = without_home::look_ahead(app, args, cancel.clone()) => looked,
                () = cancel.cancelled() => Ok(ErrorKind::Failed.code()),
            },
        }
    };
    let looked = tokio::select! {
        looked = looked => looked,
        () = stopped => Ok(ErrorKind::Failed.code()),
    };
    match cancel.is_cancelled() {
        true => Ok(ErrorKind::Failed.code()),
        false => looked,
    }
}

async fn looked_ahead(app: &App, args: args::Fire, cancel: Cancel) -> Result<u8, CommandError> {
    let home = app.home().await?;
    let asked = DryRun {
        role: args.role,
        repo: args.repo,
        work: args.work,
        story: args.story,
    };
    let watched = (cancel.clone(), outlook::passing());
    let outlook = asked.watched(&home, watched).await?;
    if cancel.is_cancelled() {
        return Ok(ErrorKind::Failed.code());
    }
    outlook::print(app, &home, &outlook, args.all)
}

/// What would end the stop that kept a role from firing, as `carson why` has it.
async fn what_ends(app: &App, home: &Home, role: String, skipped: &Skipped) -> Option<String> {
    let skip = skipped.skip?;
    let why = Why { what: role }.answer(home).await;
    let Ok(Reasons::Role(why)) = why else {
        return None;
    };
    let stop = why.stops.iter().find(|stop| stop.stop == skip.as_str())?;
    Some(print::change(&app.called(), &stop.change))
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
    get_ready_to_redact();
    let home = ManuallyDrop::new(app.home_of_a_firing().await?);
    look_at_path(&home);
    let ended = run_it(&home, id, Steps::default()).await?;
    tell_end(&app, &home, id, ended).await
}

/// The first line that is printed or kept needs it.
fn get_ready_to_redact() {
    drop(tokio::task::spawn_blocking(carson_redact::get_ready));
}

/// Looks already which programs git and others of ours may start: that is thousands of links on some machines, and
/// the first of them is needed only once the firing is claimed and its stops are read.
fn look_at_path(home: &Home) {
    let path = home.path().unwrap_or_default().to_owned();
    drop(tokio::task::spawn_blocking(move || own_path(&path)));
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
    GivesWay::Firing.begin();
    become_subreaper()?;
    let cancel = cancel_on_signals("asked to stop: its session ends, and its work is saved")?;
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
            let role = home.fleet.roles.get(&row.role);
            let found_none = outcome == Outcome::Silent && row.work.is_none();
            if let Some(makes) = role
                .filter(|_| found_none)
                .and_then(|role| work_for::makes_work(app, role))
            {
                print::error(&makes);
            }
        }
        if let Some(change) = goes_further(app, home, id, outcome).await {
            print::error(&format!("to change it: {change}"));
        }
    }
    Ok(outcome.exit_code())
}

/// What would let the next firing go further than this one, whose work is not done, as `carson why` has it.
async fn goes_further(app: &App, home: &Home, id: FiringId, outcome: Outcome) -> Option<String> {
    if matches!(outcome, Outcome::Ok | Outcome::Silent) {
        return None;
    }
    let why = Why {
        what: id.to_string(),
    };
    let Ok(Reasons::Firing(why)) = why.answer(home).await else {
        return None;
    };
    Some(print::change(&app.called(), &why.change?))
}

/// Every signal that would end the process asks what runs to stop; a firing salvages and ends.
pub(super) fn cancel_on_signals(told: &'static str) -> Result<Cancel, CommandError> {
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
                print::error(told);
                cancel.cancel();
            }
        });
    }
    Ok(cancel)
}
