//! `carson demo`: an embedded fleet that does real work in a temporary home.

mod accounts;
mod crew;
mod household;
mod repository;
mod show;
mod stopped;
mod story;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::{EngineKind, Outcome, SkipKind};
use carson_home::Home;
use carson_proc::{Cancel, Command, Limits, become_subreaper, run as supervise};
use carson_store::{Filter, Firing};
use tokio::time::{Instant, sleep};

use self::story::Story;
use crate::app::App;
use crate::args::Demo;
use crate::commands::fire::cancel_on_signals;
use crate::error::{CommandError, ErrorKind};
use crate::print;
use crate::terminal::{Stream, is_live};

/// All that the demo's home has: some hundreds, in a show of minutes.
const EVERY_ROW: Filter = Filter {
    role: None,
    since: None,
    skipped: true,
    outcome: None,
    limit: 5_000,
};

/// How long firings that still run may take to end after the show.
fn patience(engine: EngineKind) -> Duration {
    Duration::from_secs(match engine.facts().plays_script {
        true => 30,
        false => 1_800,
    })
}

pub async fn run(app: &App, args: &Demo) -> Result<u8, CommandError> {
    become_subreaper()?;
    let stop = cancel_on_signals("asked to stop: the daemon and its firings end")?;
    let root = temporary()?;
    let dir = household::make(&root, args).await?;
    if !app.json {
        prologue(args, &root);
    }
    let app = App::new(Some(dir.clone()), app.json)?;
    let home = app.home().await?;
    let cancel = Cancel::new();
    let daemon = daemon(&home, &dir)?;
    let (done, ()) = tokio::join!(daemon_until(&daemon, &cancel), async {
        tokio::select! {
            () = perform(&home, args, app.json) => {}
            () = stop.cancelled() => {}
        }
        cancel.cancel();
    });
    let said = done?;
    tokio::select! {
        biased;
        () = stop.cancelled() => {
            stopped::end_firings(&home).await?;
            stopped::say_what_is_left(&root);
            return Ok(ErrorKind::Failed.code());
        }
        () = curtain(&home, args.engine) => {}
    }
    let code = show::summary(&app, &home, &root).await?;
    if code != 0 {
        print::error(&said);
    }
    Ok(code)
}

fn temporary() -> Result<PathBuf, CommandError> {
    let name = format!("carson-demo-{}", carson_core::FiringId::new().short());
    let root = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&root).map_err(|error| {
        CommandError::failed(format!("{}: {error}", root.display()))
            .hint("name a directory that you can write: TMPDIR=DIR carson demo")
    })?;
    Ok(root.canonicalize()?)
}

fn prologue(args: &Demo, root: &Path) {
    print::line("Carson runs a household for you, in a temporary home:");
    print::line(&format!("  {}", root.display()));
    let facts = args.engine.facts();
    if facts.plays_script {
        print::line("The rehearsal engine plays a script: no model is asked, nothing is paid.");
        print::line("Everything else is real: the daemon, git, the hook, the processes.");
        print::line("Eight roles show how firings end. A crew takes an issue from plan to merge;");
        print::line("what its operator types, the demo does in your place.");
    } else {
        let who = facts.title;
        print::line(&format!(
            "The work is done by {who}, signed in as you are. It costs quota."
        ));
    }
    print::line("");
}

fn daemon(home: &Home, dir: &Path) -> Result<Command, CommandError> {
    let command = Command::new(&home.program, dir).inherit_env();
    Ok(command.arg("--home").arg(dir).arg("daemon"))
}

/// Runs the daemon as an operator would, and stops it the same way; what it said.
async fn daemon_until(command: &Command, cancel: &Cancel) -> Result<String, CommandError> {
    // Its firings outlive it, so what is left of its process tree must be left alone.
    let limits = Limits {
        sweep: false,
        ..Limits::within(Duration::from_secs(24 * 3_600))
    };
    let done = supervise(command, &limits, cancel, |_| ControlFlow::Continue(())).await?;
    Ok(done.stderr.text())
}

/// How long it may take at most, where nobody says.
fn at_most(engine: EngineKind) -> u64 {
    match engine.facts().plays_script {
        true => 48,
        false => 600,
    }
}

async fn perform(home: &Home, args: &Demo, quiet: bool) {
    let rehearsed = args.engine.facts().plays_script;
    let seconds = args.seconds.unwrap_or_else(|| at_most(args.engine));
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut stage = (!quiet).then(|| show::Live::new(is_live(Stream::Output)));
    while Instant::now() < until && !is_over(home, args.engine).await {
        let approved = match rehearsed {
            true => crew::approve(home).await,
            false => None,
        };
        if let Some(stage) = &mut stage {
            approved.iter().for_each(|plan| stage.approved(plan));
            stage.draw(home).await;
        }
        sleep(Duration::from_millis(250)).await;
    }
    if let Some(stage) = &mut stage {
        stage.draw(home).await;
    }
}

/// Whether there is nothing more to see.
async fn is_over(home: &Home, engine: EngineKind) -> bool {
    let crew_is = match engine.facts().plays_script {
        true => Story::of(home).await.is_ok_and(|story| story.is_over()),
        false => true,
    };
    crew_is && all_done(home, engine).await
}

/// Whether every role of the sample has brought a piece of work to an end, or cannot: a CLI that is not
/// installed or not signed in will not be so in a minute.
async fn all_done(home: &Home, engine: EngineKind) -> bool {
    let rows = home.store.firings(&EVERY_ROW).await.unwrap_or_default();
    let mut roles = home.fleet.roles.values().filter(|role| !crew::has(role));
    roles.all(|role| {
        let own = || rows.iter().filter(|row| row.role == role.name);
        let mut ends = household::ends(engine, role.name.as_str()).iter();
        own().any(is_an_end) && ends.all(|end| own().any(|row| row.outcome == Some(*end)))
    })
}

fn is_an_end(row: &Firing) -> bool {
    match row.outcome {
        None => false,
        // Else it is at its work.
        Some(Outcome::Skipped) => row.skip != Some(SkipKind::OVERLAP),
        Some(_) => row.work.is_some(),
    }
}

async fn curtain(home: &Home, engine: EngineKind) {
    let until = Instant::now() + patience(engine);
    while Instant::now() < until {
        // What a killed process left is concluded as the daemon would.
        let _ = carson_firing::recover::pass(home).await;
        let live = home.store.live_firings(None).await;
        // A row ends before its bench goes.
        if live.is_ok_and(|live| live.is_empty()) && show::benches(home) == 0 {
            return;
        }
        sleep(Duration::from_millis(200)).await;
    }
}
