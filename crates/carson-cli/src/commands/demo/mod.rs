//! `carson demo`: an embedded fleet that does real work in a temporary home.

mod accounts;
mod household;
mod show;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::{EngineKind, Outcome};
use carson_home::Home;
use carson_proc::{Cancel, Command, Limits, become_subreaper, run as supervise};
use carson_store::Filter;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::args::Demo;
use crate::error::CommandError;
use crate::print;
use crate::terminal::{Stream, is_live};

/// How long firings that still run may take to end after the show.
fn patience(engine: EngineKind) -> Duration {
    Duration::from_secs(match engine.facts().plays_script {
        true => 30,
        false => 1_800,
    })
}

pub async fn run(app: &App, args: &Demo) -> Result<u8, CommandError> {
    become_subreaper()?;
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
        perform(&home, args, app.json).await;
        cancel.cancel();
    });
    let said = done?;
    curtain(&home, args.engine).await;
    let code = show::summary(&app, &home, &root).await?;
    if code != 0 {
        print::error(&said);
    }
    Ok(code)
}

fn temporary() -> Result<PathBuf, CommandError> {
    let name = format!("carson-demo-{}", carson_core::FiringId::new().short());
    let root = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&root)?;
    Ok(root.canonicalize()?)
}

fn prologue(args: &Demo, root: &Path) {
    print::line("Carson runs a household for you, in a temporary home:");
    print::line(&format!("  {}", root.display()));
    let facts = args.engine.facts();
    if facts.plays_script {
        print::line("The rehearsal engine plays a script: no model is asked, nothing is paid.");
        print::line("Everything else is real: the daemon, git, the hook, the processes.");
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

async fn perform(home: &Home, args: &Demo, quiet: bool) {
    let real = !args.engine.facts().plays_script;
    let seconds = args.seconds.unwrap_or(if real { 600 } else { 40 });
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut stage = (!quiet).then(|| show::Live::new(is_live(Stream::Output)));
    while Instant::now() < until && !(real && all_done(home).await) {
        if let Some(stage) = &mut stage {
            stage.draw(home).await;
        }
        sleep(Duration::from_millis(250)).await;
    }
    if let Some(stage) = &mut stage {
        stage.draw(home).await;
    }
}

/// Whether every role has brought a piece of work to an end, or cannot: a CLI that is not
/// installed or not signed in will not be so in a minute.
async fn all_done(home: &Home) -> bool {
    let filter = Filter {
        role: None,
        since: None,
        skipped: true,
        limit: 1_000,
    };
    let rows = home.store.firings(&filter).await.unwrap_or_default();
    home.fleet.roles.keys().all(|role| {
        let mut own = rows.iter().filter(|row| row.role == *role);
        own.any(|row| match row.outcome {
            None => false,
            Some(Outcome::Skipped) => true,
            Some(_) => row.work.is_some(),
        })
    })
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
