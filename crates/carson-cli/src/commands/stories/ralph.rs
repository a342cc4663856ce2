//! `carson stories` on a `prd.json` of ralph-loop.

use std::path::{Path, PathBuf};

use carson_core::Clock;
use carson_loop::stories::ralph::{self, Given, Standing, To};
use carson_proc::become_subreaper;

use super::{show, until_a_signal};
use crate::args::stories::Run;
use crate::error::CommandError;
use crate::print;

pub async fn run(prd: PathBuf, args: Run) -> Result<u8, CommandError> {
    become_subreaper()?;
    let mut env: Vec<_> = std::env::vars_os().collect();
    if let Some(max) = args.max_attempts {
        env.push((
            "RALPH_MAX_ATTEMPTS_PER_STORY".into(),
            max.to_string().into(),
        ));
    }
    let given = Given {
        prd,
        policy: args.policy.clone().map(std::path::absolute).transpose()?,
        root: args
            .plan
            .root
            .clone()
            .map(std::path::absolute)
            .transpose()?,
        executor: args.executor.clone(),
        env,
        cwd: std::env::current_dir()?,
        clock: Clock::system(),
        redactor: print::redactor(),
        cancel: until_a_signal()?,
    };
    let mut say = |to: To, text: &str| match to {
        To::Output => print::line(text),
        To::Error => print::error(text),
    };
    Ok(ralph::run(&words(args), &given, &mut say).await)
}

/// Our own options as ralph.sh's; what follows behind `--` is stronger.
fn words(args: Run) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    option("--mode", args.mode);
    option(
        "--timeout-seconds",
        args.timeout.map(|seconds| seconds.to_string()),
    );
    words.extend(args.n.map(|n| n.to_string()));
    words.extend(args.words);
    words
}

pub fn check(prd: &Path, as_json: bool) -> Result<u8, CommandError> {
    let findings = ralph::findings(prd).map_err(|ended| CommandError::failed(ended.to_string()))?;
    show::findings(prd, &findings, as_json)
}

pub fn status(prd: &Path, tsv: bool, as_json: bool) -> Result<u8, CommandError> {
    let standing = ralph::standing(prd).map_err(|ended| CommandError::usage(ended.to_string()))?;
    if as_json {
        print::json(&standing);
        return Ok(0);
    }
    let row = |story: &Standing| {
        vec![
            story.id.clone(),
            story.priority.to_string(),
            story.mode.to_owned(),
            story.status.to_owned(),
            story.failures.to_string(),
            story.reason.clone(),
            story.title.clone(),
        ]
    };
    let rows = standing.iter().map(row).collect();
    show::rows(
        &[
            "ID", "PRIORITY", "MODE", "STATUS", "FAILURES", "REASON", "TITLE",
        ],
        rows,
        tsv,
    );
    Ok(0)
}

pub fn no_replay(prd: &Path) -> Result<u8, CommandError> {
    let events = prd.with_file_name(".runtime").join("events.log");
    Err(CommandError::usage("the events of ralph-loop do not say all that stands in its PRD, so that nothing makes it anew")
        .hint(format!("read {}", events.display())))
}
