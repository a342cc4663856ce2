//! `carson stories` on a `stories.json`.

use std::path::Path;

use carson_loop::caller::Caller;
use carson_loop::stories::native::{
    self, Asked, Came, Given, Interrupted, Mode, Place, Row, StoriesError, Told, seconds,
};
use carson_proc::become_subreaper;

use super::{show, until_a_signal};
use crate::args::stories::{self as args, PlanArg, Replay, Run, Status};
use crate::error::CommandError;
use crate::print;

/// Stories failed.
const FAILED: u8 = 13;
/// A signal ended the run.
const STOPPED: u8 = 10;

impl From<StoriesError> for CommandError {
    fn from(error: StoriesError) -> Self {
        let hint = error.hint();
        let failed = match error.is_of_the_ask() {
            true => Self::usage(error.to_string()),
            false => Self::caused_by(&error),
        };
        failed.hint(hint)
    }
}

pub async fn run(plan: &Path, args: Run, as_json: bool) -> Result<u8, CommandError> {
    let place = place(plan, &args.plan)?;
    let asked = asked(args)?;
    become_subreaper()?;
    let program = std::env::current_exe()?;
    let given = Given {
        caller: Caller::new(std::env::vars_os(), program, print::redactor()),
        cancel: until_a_signal()?,
    };
    let mut told = |told: Told| {
        if !as_json {
            tell(&told);
        }
    };
    let came = match native::run(&place, &asked, &given, &mut told).await {
        Ok(came) => came,
        // The line of the executor, not a story.
        Err(error @ StoriesError::Unable { .. }) => {
            CommandError::from(error).show(as_json);
            return Ok(FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    match as_json {
        true => print::json(&came),
        false => print::line(&summary(&came)),
    }
    Ok(code(&came))
}

fn code(came: &Came) -> u8 {
    match came {
        Came { stopped: true, .. } => STOPPED,
        Came { failed, .. } if !failed.is_empty() => FAILED,
        Came { given_up: 1.., .. } => FAILED,
        _ => 0,
    }
}

fn summary(came: &Came) -> String {
    let (taken, passed, failed, open) = (
        came.taken.len(),
        came.passed.len(),
        came.failed.len(),
        came.open,
    );
    let stopped = if came.stopped {
        ", stopped by a signal"
    } else {
        ""
    };
    let given_up = match came.given_up {
        0 => String::new(),
        count => format!(", and {count} failed before: `\"status\": \"open\"` opens one again"),
    };
    format!("{taken} taken: {passed} passed, {failed} failed; {open} still open{stopped}{given_up}")
}

fn asked(args: Run) -> Result<Asked, CommandError> {
    // An empty variable is none.
    let mode = match args.mode.as_deref() {
        None | Some("") => None,
        Some("fix") => Some(Mode::Fix),
        Some("audit") => Some(Mode::Audit),
        Some(other) => {
            let message = format!("--mode: {other:?} is not one of fix, audit");
            return Err(CommandError::usage(message));
        }
    };
    Ok(Asked {
        stories: args.n,
        mode,
        policy: args.policy.map(std::path::absolute).transpose()?,
        executor: args.executor,
        max_attempts: args.max_attempts,
        timeout: args.timeout,
        verify_runs: args.verify_runs,
        verify_timeout: args.verify_timeout,
        fail_fast: args.fail_fast,
        interrupted: args.interrupted.map(|said| match said {
            args::Interrupted::Keep => Interrupted::Keep,
            args::Interrupted::Restore => Interrupted::Restore,
        }),
    })
}

fn place(plan: &Path, args: &PlanArg) -> Result<Place, CommandError> {
    let cwd = std::env::current_dir()?;
    Ok(Place::find(plan, args.root.as_deref(), &cwd)?)
}

fn tell(told: &Told) {
    match told {
        Told::Story { id, title } => print::line(&format!("{id} {title}")),
        Told::Attempt {
            attempt,
            outcome,
            why,
            changed,
            took,
            ..
        } => {
            let files = match changed {
                1 => "1 file changed".to_owned(),
                many => format!("{many} files changed"),
            };
            let outcome = outcome.as_str();
            print::line(&format!(
                "  attempt {attempt}: {outcome} ({files}, {})",
                seconds(*took)
            ));
            why.iter()
                .for_each(|why| print::line(&format!("    {why}")));
        }
        Told::Ended { id, status } => print::line(&format!("  {id} is {}", status.as_str())),
        Told::Note(text) => print::error(&format!("note: {text}")),
    }
}

pub fn status(plan: &Path, args: &Status, as_json: bool) -> Result<u8, CommandError> {
    let standing = native::standing(&place(plan, &args.plan)?)?;
    if as_json {
        print::json(&standing);
        return Ok(0);
    }
    let row = |row: &Row| {
        let last = row.last.clone().unwrap_or_else(|| "-".to_owned());
        let why = row
            .why
            .first()
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        let last = if args.tsv { last } else { last + &why };
        vec![
            row.id.clone(),
            row.priority.to_string(),
            row.mode.to_owned(),
            row.status.to_owned(),
            row.attempts.to_string(),
            last,
            row.title.clone(),
        ]
    };
    let rows = standing.stories.iter().map(row).collect();
    show::rows(
        &[
            "ID", "PRIORITY", "MODE", "STATUS", "ATTEMPTS", "LAST", "TITLE",
        ],
        rows,
        args.tsv,
    );
    if let (Some(runs), false) = (&standing.runs, args.tsv) {
        print::line(&format!("\n{runs}"));
    }
    Ok(0)
}

pub fn check(plan: &Path, args: &PlanArg, as_json: bool) -> Result<u8, CommandError> {
    match native::read_at(&place(plan, args)?) {
        Ok(_) => show::findings(plan, &[], as_json),
        Err(StoriesError::NotRight { findings, .. }) => show::findings(plan, &findings, as_json),
        Err(error) => Err(error.into()),
    }
}

pub fn replay(plan: &Path, args: &Replay) -> Result<u8, CommandError> {
    let place = place(plan, &args.plan)?;
    let Some(replayed) = native::replayed(&place)? else {
        return Err(
            CommandError::failed(format!("there are no events of {}", place.name()))
                .hint("`carson stories run` writes them"),
        );
    };
    print::raw(replayed.document.pretty().trim_end());
    if replayed.is_same {
        return Ok(0);
    }
    print::error(&format!(
        "note: {} says something else: it was edited since the last run",
        plan.display()
    ));
    Ok(u8::from(args.check))
}
