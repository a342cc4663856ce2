//! Workflow files are read by their linter before they leave: one that does not parse is found by nobody but
//! the forge, and one that quotes an issue's title into a shell gives the repository's rights away.
//!
//! The linter reads what a session wrote, so it works in a clean room like whoever judges.

use std::time::Duration;

use carson_core::leaving::{Linted, is_workflow};
use carson_core::settle::Halt;
use carson_git::CI_LISTED;
use carson_home::halt::OrBroken;
use carson_proc::Exit;

use super::facts::Findings;
use super::verify::{in_short, printed};
use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::room_command::RoomCommand;

/// It gets the base and the files as arguments; what the work removed is read by nobody. Its settings are the
/// base's: those of the work could tell it to be silent. A shell says 127 of a program that is not there.
const LINE: &str = "command -v actionlint > /dev/null || exit 127; base=$1; shift; \
    settings=${TMPDIR:-/tmp}/actionlint.yaml; \
    git show \"$base:.github/actionlint.yaml\" > \"$settings\" 2> /dev/null || \
    git show \"$base:.github/actionlint.yml\" > \"$settings\" 2> /dev/null || \
    printf 'self-hosted-runner:\\n  labels: []\\n' > \"$settings\"; \
    for file; do shift; if [ -f \"$file\" ]; then set -- \"$@\" \"$file\"; fi; done; \
    [ $# = 0 ] || exec actionlint -no-color -config-file \"$settings\" \"$@\"";
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
    if !found.is_finished() || !placed.taken.repo.allow_ci {
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
    let files = changed.iter().filter(|path| is_workflow(path));
    let files: Vec<String> = files.map(|path| format!("./{path}")).collect();
    if files.is_empty() {
        return Ok(found);
    }
    let base = placed.place.worktree.base.to_string();
    let tip = seen.tip().clone();
    let room = clean_rooms::with_commit(ctx, rec, placed, &seen, &tip).await?;
    let command = RoomCommand {
        line: LINE,
        args: std::iter::once(base).chain(files).collect(),
        told: "actionlint",
        within: WITHIN,
        keep: KEEP,
    };
    let done = command.run(ctx, rec, placed, &room).await?;
    found.linted = match done.exit {
        Exit::Code(0) if done.stopped.is_none() => Linted::Sound,
        Exit::Code(127) => Linted::NoLinter,
        _ => Linted::Unsound(in_short(&printed(ctx, &done))),
    };
    Ok(found)
}
