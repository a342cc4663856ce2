//! Workflow files are read by their linter before they leave: one that does not parse is found by nobody but
//! the forge, and one that quotes an issue's title into a shell gives the repository's rights away.
//!
//! The linter reads what a session wrote, so it works in a clean room like whoever judges.

use std::time::Duration;

use carson_core::Sentinel;
use carson_core::leaving::{Linted, is_workflow};
use carson_core::settle::Halt;
use carson_git::CI_LISTED;
use carson_home::halt::OrBroken;
use carson_proc::Exit;

use super::facts::Findings;
use super::verify::in_short;
use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::room_command::RoomCommand;

/// It gets the files as arguments; what the work removed is read by nobody. A shell says 127 of a program that
/// is not there.
const LINE: &str = "command -v actionlint > /dev/null || exit 127; \
    for file; do shift; if [ -f \"$file\" ]; then set -- \"$@\" \"$file\"; fi; done; \
    [ $# = 0 ] || exec actionlint -no-color \"$@\"";
/// How long it may take.
const WITHIN: Duration = Duration::from_secs(60);
/// Bytes of what it prints, from head and tail.
const KEEP: usize = 4 * 1024;

/// Reads them, where the repository lets work change them.
pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    mut found: Findings,
) -> Result<Findings, Halt> {
    let is_finished = matches!(found.sentinel, Some(Sentinel::Ok(_)));
    if !is_finished || !placed.taken.repo.allow_ci {
        return Ok(found);
    }
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let changed = &seen.committed().ci;
    if changed.len() >= CI_LISTED {
        let why = format!("{CI_LISTED} or more definitions were changed, and not all are read");
        found.linted = Linted::Unsound(why);
        return Ok(found);
    }
    let files: Vec<String> = changed
        .iter()
        .filter(|path| is_workflow(path))
        .map(|path| format!("./{path}"))
        .collect();
    if files.is_empty() {
        return Ok(found);
    }
    let tip = seen.tip().clone();
    let room = clean_rooms::with_commit(ctx, rec, placed, &seen, &tip).await?;
    let command = RoomCommand {
        line: LINE,
        args: files,
        within: WITHIN,
        keep: KEEP,
    };
    let done = command.run(ctx, rec, placed, &room).await?;
    found.linted = match done.exit {
        Exit::Code(0) if done.stopped.is_none() => Linted::Sound,
        Exit::Code(127) => Linted::NoLinter,
        _ => {
            let said = format!("{}\n{}", done.stdout.text(), done.stderr.text());
            Linted::Unsound(in_short(&ctx.redacted(&said)))
        }
    };
    Ok(found)
}
