//! Puts a session's walls up, and notes how high they became.
//!
//! Each run has a profile of its own in the bench's `sandbox/`, where the launcher also writes the
//! level that it reached. The weakest level of a firing goes to its row; a level that is weaker
//! than that of the role's firing before is an event.

use std::path::{Path, PathBuf};

use carson_config::{NetworkUse, Role, Sandbox, Workspaces};
use carson_core::settle::Halt;
use carson_core::{Event, Stage};
use carson_engine::Access;
use carson_git::Mirror;
use carson_proc::Exit;
use carson_proc::sandbox::{Level, UNMET};
use serde_json::{Value, json};
use tracing::{info, warn};

use crate::ctx::Ctx;
use crate::record::Record;
use carson_bench::bench::Bench;
use carson_bench::private_dir;
use carson_bench::proxy::network_of;
use carson_bench::sandbox_profile::Reach;
use carson_home::halt::OrBroken;

/// The walls around one run.
pub(crate) struct Walls {
    profile: PathBuf,
    /// What the workspace is made of.
    workspace: Workspaces,
}

impl Walls {
    /// The file that the launcher reads.
    pub(crate) fn profile(&self) -> &Path {
        &self.profile
    }

    /// What the run reached; `None` when the launcher did not start it.
    fn level(&self) -> Option<Level> {
        Level::read_beside(&self.profile).ok()
    }
}

/// Writes the profile of a session that works in this bench or room.
pub(crate) fn walls_of_session(
    ctx: &Ctx<'_>,
    rec: &Record,
    mirror: &Mirror,
    bench: &Bench,
    (access, stage): (Access, Stage),
) -> Result<Walls, Halt> {
    put_up(ctx, rec, (mirror, bench), access, (stage.as_str(), true))
}

/// The same of what else runs there, such as the promise.
pub(crate) fn walls(
    ctx: &Ctx<'_>,
    rec: &Record,
    mirror: &Mirror,
    bench: &Bench,
    access: Access,
    what: &str,
) -> Result<Walls, Halt> {
    put_up(ctx, rec, (mirror, bench), access, (what, false))
}

fn put_up(
    ctx: &Ctx<'_>,
    rec: &Record,
    (mirror, bench): (&Mirror, &Bench),
    access: Access,
    (what, is_session): (&str, bool),
) -> Result<Walls, Halt> {
    let reach = Reach {
        is_session,
        home: ctx.home,
        role: ctx.role,
        account: rec.required_account(ctx)?,
        bench,
        mirror: mirror.path(),
        access,
        network: network_of(rec.proxy.as_ref(), ctx.role),
    };
    // What is granted must be there; the hook makes its file anew each time.
    let events = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(bench.hook_events());
    events.or_broken("making the hook's event file")?;
    let dir = bench.sandbox();
    private_dir(&dir).or_broken("making the profiles' folder")?;
    let profile = dir.join(format!("{}-{what}.json", next(&dir)));
    let written = reach.profile().write_to(&profile);
    written.or_broken("writing the sandbox's profile")?;
    Ok(Walls {
        profile,
        workspace: bench.kind(),
    })
}

/// A number that no profile in this folder has.
fn next(dir: &Path) -> String {
    let taken = std::fs::read_dir(dir).map_or(0, Iterator::count);
    format!("{:03}", taken + 1)
}

/// Notes what a run reached. When the launcher could not put up what the role requires, the
/// session never began, and the firing cannot go on.
pub(crate) async fn record_level(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    walls: &Walls,
    exit: Option<Exit>,
    said: &str,
) -> Result<(), Halt> {
    let Some(level) = walls.level() else {
        if exit == Some(Exit::Code(UNMET.into())) {
            return Err(Halt::Unconfined(why(said)));
        }
        return Ok(());
    };
    let (first, weakest) = rec.confined(level);
    if let Some(level) = weakest {
        let mut row = row(ctx.role, &level);
        row["workspace"] = json!(walls.workspace);
        info!(firing.id = %ctx.id, sandbox = %row, "confined");
        let written = ctx.as_firing().set_sandbox(&row);
        ctx.best_effort("the sandbox's level", written).await;
        if first {
            compare(ctx, &level).await;
        }
    }
    Ok(())
}

/// The launcher's own words, which begin with its name.
fn why(said: &str) -> String {
    let own = said
        .lines()
        .rev()
        .find_map(|line| line.split_once("carson sandbox: "));
    own.map_or_else(|| said.trim().to_owned(), |(_, why)| why.to_owned())
}

/// What `carson firings ID --json` shows.
pub(crate) fn row(role: &Role, level: &Level) -> Value {
    let mut row = serde_json::to_value(level).unwrap_or_else(|_| json!({}));
    row["asked"] = json!(role.confinement.sandbox);
    if role.confinement.network == NetworkUse::Host {
        row["network_asked"] = json!(NetworkUse::Host);
    }
    row
}

/// Says so when this host confines the role's sessions less than it did last time.
async fn compare(ctx: &Ctx<'_>, level: &Level) {
    let Ok(Some(me)) = ctx.store().firing(ctx.id).await else {
        return;
    };
    let Ok(Some(before)) = ctx.store().sandbox_before(&me).await else {
        return;
    };
    let known = |what: &String| {
        let list = before["weaker"].as_array();
        list.is_some_and(|list| list.iter().any(|one| one == what.as_str()))
    };
    let lost: Vec<&String> = level.weaker.iter().filter(|what| !known(what)).collect();
    let switched_off = ctx.role.confinement.sandbox == Sandbox::Off && before["asked"] != "off";
    if lost.is_empty() && !switched_off {
        return;
    }
    warn!(firing.id = %ctx.id, ?lost, switched_off, "the sandbox is weaker than last time");
    let event = Event::SandboxWeaker {
        weaker: lost.into_iter().cloned().collect(),
        switched_off,
        before,
    };
    ctx.event(&event).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_s_reason_is_found_in_what_was_said() {
        let said = "noise\ncarson sandbox: sandbox required, not available: Landlock\n";
        assert_eq!(why(said), "sandbox required, not available: Landlock");
        assert_eq!(why(" else \n"), "else");
    }
}
