//! Carson runs the promise itself, in a clean room: a model's claim is never enough where the role has a
//! check, and nothing but the commit decides.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use carson_config::Promise;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_engine::Access;
use carson_git::{Oid, name_of};
use carson_proc::{Command, Finished, Limits, StopReason, run as supervise};
use carson_store::Judged;
use tracing::{info, warn};

use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run;
use crate::setup::{self, Site};
use carson_bench::bench::Bench;
use carson_bench::private_dir;
use carson_home::halt::OrBroken;

/// Bytes of output, from its head and from its tail, that go back to the model.
const FEEDBACK: usize = 8 * 1024;
/// Letters of its end that a reason has.
const TOLD: usize = 300;

/// What the promise said.
pub(crate) enum Check {
    /// The role has none, or leaves the stage out.
    NoPromise,
    /// There is no commit to judge, but uncommitted work, or commits of which none is the work.
    NothingCommitted,
    /// Exit 0, on this commit.
    Passed(Oid),
    /// Anything else; with its output.
    Failed(String),
    /// It could not be run: the setup failed in the clean room; with its output.
    NotReady(String),
}

pub(crate) async fn check(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<Check, Halt> {
    let Some(promise) = &ctx.role.promise else {
        return Ok(Check::NoPromise);
    };
    if !ctx.has_stage(Stage::Verify) {
        return Ok(Check::NoPromise);
    }
    ctx.enter(Stage::Verify).await;
    let seen = placed
        .place
        .inspect()
        .await
        .or_broken("looking at the worktree")?;
    let (facts, commit) = (seen.facts(), seen.tip().clone());
    if facts.commits == 0 && (facts.dirty || !facts.beside.is_empty()) {
        return Ok(Check::NothingCommitted);
    }
    if facts.commits == 0 {
        return Ok(Check::NoPromise);
    }
    let (repo, base) = (placed.taken.repo, placed.place.worktree.base.clone());
    let needed = setup::is_needed(repo, &placed.place.bench, (&seen, &base), &commit).await?;
    let room = clean_rooms::with_commit(ctx, rec, placed, &seen, (&commit, !needed)).await?;
    if needed {
        let site = Site {
            repo,
            mirror: &placed.place.mirror,
            base: &base,
            bench: &room,
        };
        if let Err(failed) = setup::in_place(ctx, rec, &site).await? {
            let said = format!("the setup failed in the clean room\n{}", failed.said);
            if let Err(error) = keep_output(ctx, rec, &said) {
                warn!(firing.id = %ctx.id, %error, "what the setup said could not be kept");
            }
            return Ok(Check::NotReady(said));
        }
    }
    let done = run(ctx, rec, placed, promise, &room).await?;
    let said = described(ctx, promise, &done);
    if let Err(error) = keep_output(ctx, rec, &said) {
        warn!(firing.id = %ctx.id, %error, "what the check said could not be kept");
    }
    let told = in_short(&said);
    info!(firing.id = %ctx.id, promise.passed = done.success(), %commit, promise.said = told, "promise run");
    if done.success() && done.stopped.is_none() {
        record_judged(ctx, Judged::Verified, &commit).await;
        return Ok(Check::Passed(commit));
    }
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    Ok(Check::Failed(said))
}

/// How a run of the promise went and what it printed, for the next attempt and for people.
pub(super) fn described(ctx: &Ctx<'_>, promise: &Promise, done: &Finished) -> String {
    let how = match (done.success(), done.stopped) {
        (_, Some(stopped)) => format!("did not exit 0 ({}, stopped: {stopped:?})", done.exit),
        (true, None) => "passed".to_owned(),
        (false, None) => format!("did not exit 0 ({})", done.exit),
    };
    let (out, err) = (done.stdout.text(), done.stderr.text());
    let text = format!("`{}` {how}\n{out}\n{err}", promise.run);
    ctx.redacted(&text)
}

/// Its end, on one line.
pub(super) fn in_short(said: &str) -> String {
    let said = said.trim();
    let from = said.char_indices().rev().nth(TOLD).map_or(0, |(at, _)| at);
    said[from..]
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" / ")
}

/// What is the same when it fails in the same way again, at another time and in another process.
pub(super) fn fingerprint(said: &str) -> String {
    let words = said
        .split_whitespace()
        .map(|word| word.replace(|c: char| c.is_ascii_digit(), "0"));
    let text = words.collect::<Vec<_>>().join(" ");
    name_of(text.as_bytes()).map_or(text, String::from)
}

/// Puts it beside the transcript of the session that it judged.
fn keep_output(ctx: &Ctx<'_>, rec: &Record, said: &str) -> std::io::Result<()> {
    let dir = ctx.home.fleet.layout.transcripts(&ctx.id);
    private_dir(&dir)?;
    let path = dir.join(format!("{:02}-verify.txt", rec.tally().sessions));
    let mut file = OpenOptions::new();
    let file = file.write(true).create(true).truncate(true).mode(0o600);
    file.open(path)?.write_all(said.as_bytes())
}

pub(super) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    promise: &Promise,
    room: &Bench,
) -> Result<Finished, Halt> {
    let limits = Limits {
        keep: FEEDBACK,
        ..Limits::within(promise.timeout.min(ctx.remaining()))
    };
    let walls = sandboxed_run::walls(
        ctx,
        rec,
        &placed.place.mirror,
        room,
        Access::Write,
        "promise",
    )?;
    let command = Command::new(PathBuf::from("/bin/sh"), room.seen_tree())
        .arg("-c")
        .arg(&promise.run)
        .exact_env(placed.environment(ctx, rec, room, 0)?)
        .confined(walls.profile());
    ctx.runs_check(&promise.run);
    let done = supervise(&command, &limits, &ctx.cancel, |_| {
        std::ops::ControlFlow::Continue(())
    })
    .await
    .or_broken("running the check")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    Ok(done)
}

/// Notes which commit was judged. Settle has it from elsewhere; this is for people.
pub(crate) async fn record_judged(ctx: &Ctx<'_>, judged: Judged, commit: &Oid) {
    let written = ctx.store().set_judged(ctx.id, judged, commit.as_str());
    ctx.best_effort("a judged commit", written).await;
}
