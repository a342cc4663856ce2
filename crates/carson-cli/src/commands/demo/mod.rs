//! `carson demo`: an embedded fleet that does real work in a temporary home.

mod household;
mod show;

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_firing::Household;
use carson_proc::{Cancel, Command, Limits, become_subreaper, run as supervise};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::args::{Demo, EngineChoice};
use crate::error::CommandError;
use crate::print;

/// How long firings that still run may take to end after the show.
const CURTAIN: Duration = Duration::from_secs(30);

pub async fn run(app: &App, args: &Demo) -> Result<u8, CommandError> {
    become_subreaper()?;
    let root = temporary()?;
    let home = household::make(&root, args).await?;
    if !app.json {
        prologue(args, &root);
    }
    let app = App::new(Some(home.clone()), app.json)?;
    let house = app.house().await?;
    let cancel = Cancel::new();
    let daemon = daemon(&house, &home)?;
    let (done, ()) = tokio::join!(daemon_until(&daemon, &cancel), async {
        perform(&house, args.seconds, app.json).await;
        cancel.cancel();
    });
    let said = done?;
    curtain(&house).await;
    let code = show::summary(&app, &house, &root).await?;
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
    match args.engine {
        EngineChoice::Rehearsal => {
            print::line("The rehearsal engine plays a script: no model is asked, nothing is paid.");
            print::line("Everything else is real: the daemon, git, the hook, the processes.");
        }
        EngineChoice::Claude => {
            print::line("The work is done by Claude Code, signed in as you are. It costs quota.");
        }
    }
    print::line("");
}

fn daemon(house: &Household, home: &Path) -> Result<Command, CommandError> {
    let command = Command::new(&house.program, home).inherit_env();
    Ok(command.arg("--home").arg(home).arg("daemon"))
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

async fn perform(house: &Household, seconds: u64, quiet: bool) {
    let until = Instant::now() + Duration::from_secs(seconds);
    if quiet {
        tokio::time::sleep_until(until).await;
        return;
    }
    let mut stage = show::Live::new(std::io::stdout().is_terminal());
    while Instant::now() < until {
        stage.draw(house).await;
        sleep(Duration::from_millis(250)).await;
    }
    stage.draw(house).await;
}

async fn curtain(house: &Household) {
    let until = Instant::now() + CURTAIN;
    while Instant::now() < until {
        // What a killed process left is concluded as the daemon would.
        let _ = carson_firing::recover::pass(house).await;
        match house.store.live_firings(None).await {
            Ok(live) if !live.is_empty() => sleep(Duration::from_millis(200)).await,
            _ => return,
        }
    }
}
