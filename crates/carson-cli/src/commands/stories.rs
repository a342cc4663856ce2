//! `carson stories`

mod ralph;

use std::path::PathBuf;

use carson_proc::Cancel;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::stories::{Compat, PlanArg, Run, Stories};
use crate::error::CommandError;

pub fn run(action: Stories, as_json: bool) -> Result<u8, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let _ = as_json;
    runtime.block_on(async {
        match action {
            Stories::Run(args) => run_stories(args).await,
            _ => Err(CommandError::usage("not yet")),
        }
    })
}

async fn run_stories(args: Run) -> Result<u8, CommandError> {
    let plan = plan(&args.plan)?;
    match args.plan.compat {
        Some(Compat::Ralph) => ralph::run(plan, args).await,
        _ => Err(CommandError::usage("not yet")),
    }
}

/// The file of the plan.
fn plan(args: &PlanArg) -> Result<PathBuf, CommandError> {
    let named = args.plan.clone();
    let path = named.unwrap_or_else(|| PathBuf::from("stories.json"));
    Ok(std::path::absolute(path)?)
}

/// Cancelled by SIGINT and SIGTERM.
fn until_a_signal() -> Result<Cancel, CommandError> {
    let cancel = Cancel::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut signals, cancel) = (signal(kind)?, cancel.clone());
        tokio::spawn(async move {
            signals.recv().await;
            cancel.cancel();
        });
    }
    Ok(cancel)
}
