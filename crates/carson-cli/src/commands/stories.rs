//! `carson stories`

mod native;
mod ralph;
mod show;

use std::path::{Path, PathBuf};

use carson_loop::stories::ralph::Prd;
use carson_loop::stories::{Json, native::schema_text};
use carson_proc::Cancel;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::stories::{Compat, PlanArg, Run, Stories};
use crate::error::CommandError;
use crate::print;

/// Where a plan is looked for when nobody names one.
const USUAL: [&str; 2] = ["stories.json", "prd.json"];
/// What to do where there is none.
const NAME_IT: &str =
    "name the plan, or write one: `carson stories check --schema` says what stands in it";

pub fn run(action: Stories, as_json: bool) -> Result<u8, CommandError> {
    // A signal is heard while a tree is looked at.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(dispatch(action, as_json))
}

async fn dispatch(action: Stories, as_json: bool) -> Result<u8, CommandError> {
    match action {
        Stories::Run(args) => run_stories(args, as_json).await,
        Stories::Status(args) => match found(&args.plan)? {
            (plan, Compat::Carson) => native::status(&plan, &args, as_json),
            (plan, Compat::Ralph) => ralph::status(&plan, args.tsv, as_json),
        },
        Stories::Check(args) if args.schema => {
            print::raw(schema_text().trim_end());
            Ok(0)
        }
        Stories::Check(args) => match found(&args.plan)? {
            (plan, Compat::Carson) => native::check(&plan, &args.plan, as_json),
            (plan, Compat::Ralph) => ralph::check(&plan, as_json),
        },
        Stories::Replay(args) => match found(&args.plan)? {
            (plan, Compat::Carson) => native::replay(&plan, &args),
            (plan, Compat::Ralph) => ralph::no_replay(&plan),
        },
    }
}

async fn run_stories(mut args: Run, as_json: bool) -> Result<u8, CommandError> {
    // `carson stories run 3`: there is no file of that name.
    if let Some(named) = args
        .plan
        .plan
        .take_if(|named| args.n.is_none() && is_count(named))
    {
        args.n = named.to_string_lossy().parse().ok();
    }
    match found(&args.plan)? {
        (plan, Compat::Ralph) => ralph::run(plan, args).await,
        (_, Compat::Carson) if !args.words.is_empty() => Err(CommandError::usage(
            "what follows behind `--` is for plans of ralph-loop",
        )
        .hint("add --compat ralph")),
        (plan, Compat::Carson) => native::run(&plan, args, as_json).await,
    }
}

fn is_count(named: &Path) -> bool {
    let text = named.as_os_str().as_encoded_bytes();
    text.iter().all(u8::is_ascii_digit) && !named.exists()
}

/// The file of the plan, and whose format it is in.
fn found(args: &PlanArg) -> Result<(PathBuf, Compat), CommandError> {
    let path = match (&args.plan, args.compat) {
        (Some(named), _) => named.clone(),
        (None, Some(Compat::Ralph)) => PathBuf::from(USUAL[1]),
        (None, _) => usual()?,
    };
    let path = std::path::absolute(path)?;
    match std::fs::metadata(&path) {
        Ok(found) if found.is_file() => {}
        // What ralph.sh says of it, its users know.
        _ if args.compat == Some(Compat::Ralph) => {}
        Ok(_) => {
            return Err(
                CommandError::usage(format!("{} is no file", path.display())).hint(NAME_IT),
            );
        }
        Err(error) => {
            let message = format!("{}: {error}", path.display());
            return Err(CommandError::usage(message).hint(NAME_IT));
        }
    }
    let compat = args.compat.unwrap_or_else(|| compat(&path));
    Ok((path, compat))
}

fn usual() -> Result<PathBuf, CommandError> {
    let mut usual = USUAL.iter().map(PathBuf::from);
    let found = usual.find(|path| path.exists());
    found.ok_or_else(|| {
        CommandError::usage("there is no stories.json and no prd.json here").hint(NAME_IT)
    })
}

/// By what stands in it; one that cannot be read is Carson's own, and that says what is wrong with it.
fn compat(path: &Path) -> Compat {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match Json::parse(&text) {
        Ok(document) if Prd::is_one(&document) => Compat::Ralph,
        _ => Compat::Carson,
    }
}

/// Cancelled by SIGINT, SIGTERM and SIGHUP.
fn until_a_signal() -> Result<Cancel, CommandError> {
    let cancel = Cancel::new();
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        let (mut signals, cancel) = (signal(kind)?, cancel.clone());
        tokio::spawn(async move {
            signals.recv().await;
            cancel.cancel();
        });
    }
    Ok(cancel)
}
