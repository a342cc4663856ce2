//! Carson runs the checks itself, the role's promise, the repository's own and that of a story, in a clean room: a model's
//! claim is never enough where there is one, and nothing but the commit decides.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use carson_config::Promise;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_core::text::end_of;
use carson_git::{Oid, Seen};
use carson_loop::digest::Digest;
use carson_loop::normal::{self, Places};
use carson_proc::{Exit, Finished, Limits, StopReason};
use carson_store::Judged;
use tracing::{info, warn};

use super::leaving;
use crate::clean_rooms::{self, Begun, Holds};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::refused_hosts::RefusedHosts;
use crate::room_command::RoomCommand;
use carson_bench::bench::Bench;
use carson_bench::private_dir;
use carson_home::halt::OrBroken;

/// Bytes of output, from its head and from its tail, that are kept; the next attempt hears less of it.
const KEEP: usize = 256 * 1024;
/// Letters of its end that a reason has.
const TOLD: usize = 300;

/// What the checks said.
pub(crate) enum Check {
    /// Neither the role nor the repository has one, or nothing is committed that it could judge.
    NoPromise,
    /// There is no commit to judge, but uncommitted work, or commits of which none is the work.
    NothingCommitted,
    /// Exit 0, on this commit.
    Passed(Oid),
    /// Anything else.
    Failed(Failure),
    /// It could not be run: the setup failed in the clean room; with its output.
    NotReady(String),
}

/// A check that failed.
pub(crate) struct Failure {
    /// How, and what it printed.
    pub said: String,
    /// The same for the same failure, at another time and in another process.
    pub print: Digest,
    /// The commit that it judged.
    pub commit: Oid,
    /// Whether the worktree has more than that commit.
    pub is_left: bool,
}

pub(crate) async fn check(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
) -> Result<Check, Halt> {
    let repo = placed.taken.repo;
    let story = placed.taken.story.as_ref();
    let mut checks = ctx.role.checks(repo);
    checks.extend(story.into_iter().flat_map(|story| &story.promises));
    if checks.is_empty() {
        return Ok(Check::NoPromise);
    }
    let entered = ctx.enter(Stage::Verify);
    // Whoever judges the diff needs a room of the same commit.
    let is_judged = ctx.has_stage(Stage::DiffReview);
    let (bench, worktree) = (placed.place.bench.clone(), placed.place.worktree.clone());
    let begin = |with_setup| clean_rooms::begin(ctx, repo, (&bench, &worktree), with_setup);
    // Most work leaves alone what the setup depends on: while somebody looks, a room for that is begun.
    let room = async { begin(true) };
    let look = placed.place.inspect();
    let (seen, mut own, ()) = tokio::join!(look, room, entered);
    let seen = seen.or_broken("looking at the worktree")?;
    let (facts, commit) = (seen.facts(), seen.tip().clone());
    if facts.commits == 0 && (facts.dirty || !facts.beside.is_empty()) {
        return Ok(Check::NothingCommitted);
    }
    if facts.commits == 0 {
        return Ok(Check::NoPromise);
    }
    // Whoever judges the diff begins it.
    if !is_judged {
        leaving::search_ahead(ctx, placed.taken, &seen, &mut placed.place.ahead);
    }
    let mut all_said = String::new();
    let last = checks.len() - 1;
    for (at, check) in checks.into_iter().enumerate() {
        let with_setup = clean_rooms::has_setup(placed, &seen, &commit).await?;
        let fits = |begun: &Begun| begun.fits(with_setup);
        let own = own.take().filter(fits).or_else(|| begin(with_setup));
        // That of whoever judges next is filled beside the last one and its check, which wait for nothing.
        let next = match is_judged && at == last && own.is_some() {
            true => begin(with_setup),
            false => None,
        };
        let refused = RefusedHosts::so_far(rec);
        let ahead = async {
            let filled = next?.fill(ctx, placed, &seen, Holds::only(&commit));
            // One that cannot be made is made again, and said, where it is needed.
            filled.await.ok()
        };
        let done = in_a_room(ctx, rec, placed, &seen, (check, own));
        let (done, ahead) = tokio::join!(done, ahead);
        placed.place.room_ahead = ahead.map(|room| (commit.clone(), room));
        // What it said is known, and nobody needs what it left; the room beside it is made again.
        clean_rooms::make_way(ctx.home, &placed.place.bench).await;
        let (done, room) = match done? {
            Ok(ran) => ran,
            Err(said) => {
                keep_output(ctx, rec, "verify", &said);
                return Ok(Check::NotReady(said));
            }
        };
        let mut said = described(ctx, check, &done);
        if !done.success() {
            said.push_str(&refused.since(ctx, rec));
        }
        all_said.push_str(&said);
        keep_output(ctx, rec, "verify", &all_said);
        let told = in_short(&said);
        info!(firing.id = %ctx.id, check.passed = done.success(), %commit, check.said = told, "check run");
        if !done.success() {
            let print = fingerprint(&said, &room);
            return Ok(Check::Failed(Failure {
                said,
                print,
                commit,
                is_left: seen.facts().dirty,
            }));
        }
    }
    record_judged(ctx, Judged::Verified, &commit).await;
    Ok(Check::Passed(commit))
}

/// Runs a check in a room of its own, which may have been begun: what one of them runs is the work's own code, and must not
/// prepare the next. What the setup printed, where that failed.
async fn in_a_room(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    seen: &Seen,
    (check, own): (&Promise, Option<Begun>),
) -> Result<Result<(Finished, Bench), String>, Halt> {
    let holds = Holds::only(seen.tip());
    let ready = match own {
        Some(begun) => clean_rooms::ready_in(ctx, rec, placed, seen, holds, begun).await?,
        None => clean_rooms::ready(ctx, rec, placed, seen, holds).await?,
    };
    Ok(match ready {
        Ok(room) => Ok((run(ctx, rec, placed, check, &room).await?, room)),
        Err(said) => Err(said),
    })
}

/// How a run of the promise went and what it printed, for the next attempt and for people.
pub(super) fn described(ctx: &Ctx<'_>, promise: &Promise, done: &Finished) -> String {
    described_line(ctx, &promise.run, done)
}

/// The same of another line.
pub(super) fn described_line(ctx: &Ctx<'_>, line: &str, done: &Finished) -> String {
    let (how, said) = (how(done), printed(ctx, done));
    format!("{}{said}", ctx.redacted(&format!("`{line}` {how}\n")))
}

/// What it printed, without secrets.
pub(super) fn printed(ctx: &Ctx<'_>, done: &Finished) -> String {
    let clean = |text: &str| ctx.redacted(text);
    let (out, err) = (&done.stdout, &done.stderr);
    format!("{}\n{}", out.text_without(clean), err.text_without(clean))
}

/// How it ended, behind its name.
pub(super) fn how(done: &Finished) -> String {
    match (done.success(), done.stopped) {
        (_, Some(StopReason::WallClock)) => {
            let within = done.stopped_after.unwrap_or(done.elapsed);
            format!("did not end in its time ({} s)", within.as_secs())
        }
        (_, Some(StopReason::OutputCap)) => {
            let most = Limits::OUTPUT >> 20;
            format!("was stopped: it printed more than the {most} MB that are read")
        }
        (_, Some(stopped)) => format!("did not exit 0 ({}, stopped: {stopped:?})", done.exit),
        (true, None) => "passed".to_owned(),
        (false, None) => format!("did not exit 0 ({})", told(done.exit)),
    }
}

/// How a program ended, with what the number is known to mean.
fn told(exit: Exit) -> String {
    match exit.is_of_a_large_file() {
        true => format!("{exit}: a file was to become larger than limits.max_file_mb of the role"),
        false => exit.to_string(),
    }
}

/// Its end, on one line.
pub(super) fn in_short(said: &str) -> String {
    end_of(said, TOLD)
}

/// What is the same when it fails in the same way again, at another time, in another process and another room.
pub(super) fn fingerprint(said: &str, room: &Bench) -> Digest {
    let trees = [room.seen_tree(), room.tree(), room.seen_home(), room.home()];
    let temporary = [room.temp(), "/tmp".into(), "/var/tmp".into()];
    // How much was left out is not how it failed.
    let lines = said
        .lines()
        .filter(|line| !line.ends_with(" bytes left out …"));
    let said = lines.collect::<Vec<_>>().join("\n");
    normal::fingerprint(said.as_bytes(), &Places::new(trees, temporary))
}

/// Puts it beside the transcript of the session that it judged.
pub(super) fn keep_output(ctx: &Ctx<'_>, rec: &Record, what: &str, said: &str) {
    if ctx.is_only_asked {
        return;
    }
    let dir = ctx.home.fleet.layout.transcripts(&ctx.id);
    let path = dir.join(format!("{:02}-{what}.txt", rec.tally().sessions));
    let mut file = OpenOptions::new();
    let file = file.write(true).create(true).truncate(true).mode(0o600);
    let kept = private_dir(&dir).and_then(|()| file.open(path)?.write_all(said.as_bytes()));
    if let Err(error) = kept {
        warn!(firing.id = %ctx.id, %error, "what the check said could not be kept");
    }
}

/// Runs one of the checks.
pub(super) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    check: &Promise,
    room: &Bench,
) -> Result<Finished, Halt> {
    let command = RoomCommand {
        line: &check.run,
        args: Vec::new(),
        told: &check.run,
        within: check.timeout,
        keep: KEEP,
    };
    command.run(ctx, rec, placed, room).await
}

/// Notes which commit was judged. Settle has it from elsewhere; this is for people.
pub(crate) async fn record_judged(ctx: &Ctx<'_>, judged: Judged, commit: &Oid) {
    let written = ctx.as_firing().set_judged(judged, commit.as_str());
    ctx.best_effort("a judged commit", written).await;
}
