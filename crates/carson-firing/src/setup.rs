//! The setup of a repository: what makes a checkout ready to work in.
//!
//! Where workspaces stand on layers it runs once for each state of what it depends on, in a workspace of
//! its own before any session has been there, and what it leaves lies below all workspaces. In a copy it
//! runs each time. It runs as sessions do, behind the same walls and with the role's network, but without
//! anything by which they sign in.

use std::convert::Infallible;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carson_bench::bench::Bench;
use carson_bench::layers::{self, Held, LayerError, Missing, decides};
use carson_bench::private_dir;
use carson_config::Repo;
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_core::text::{end_of, shell_word};
use carson_engine::Access;
use carson_git::{GitError, Oid, Seen};
use carson_home::halt::{OrBroken, with_causes};
use carson_proc::{Captured, Command, Exit, Finished, Limits, StopReason, run as supervise};
use tracing::warn;

use crate::ctx::Ctx;
use crate::live_log::{self, LiveLog};
use crate::record::Record;
use crate::refused_hosts::RefusedHosts;
use crate::sandboxed_run;
use crate::site::{BRANCH, Site, environment};
use crate::toolchains;

/// Bytes of what the lines print, from its head and from its tail, that are kept.
const KEPT: usize = 1024 * 1024;
/// Letters of its end that a reason has.
const TOLD: usize = 300;

/// Nobody is told of a shorter wait for another firing's setup.
const MOMENT: Duration = Duration::from_secs(1);

/// What follows lines that ran in a bench or room as it is.
#[derive(Clone, Copy)]
pub(crate) enum Then<'c> {
    /// Nothing.
    Nothing,
    /// What they changed of tracked files is taken out again.
    PutBack {
        /// The commit that is to lie there.
        commit: &'c Oid,
        /// The branch that it is on.
        branch: &'c str,
    },
}

impl Then<'_> {
    /// In a copy, and in each clean room in which the lines run: the branch is where it was, what the lines changed of
    /// tracked files is taken out again, and git is told what they left and it does not ignore, so that no session takes it
    /// for its work. What git cannot put back is no good setup. In a pattern a line's end is any letter.
    fn lines(self) -> String {
        let Self::PutBack { commit, branch } = self else {
            return String::new();
        };
        let branch = shell_word(branch);
        format!(
            "set +x; cd \"$CARSON_WORKTREE\" || \\exit 1\n\
             git -c core.hooksPath=/dev/null checkout --quiet --force -B {branch} {commit} || \\exit 1\n\
             git diff --quiet {commit} -- || {{ echo 'a directory that holds tracked files was replaced'; \\exit 1; }}\n\
             info=$(git rev-parse --git-common-dir)/info; mkdir -p \"$info\"\n\
             git ls-files -z --others --exclude-standard | tr '\\n\\r\\0' '??\\n' | head -n 20000 \\\n\
             | sed 's,[][*\\ ],\\\\&,g; s,^,/,' >> \"$info/exclude\""
        )
    }
}

/// The exit code of a setup of which every line ran and passed. A line that ends the shell itself (`exit 0`, `exec`, a
/// trap) ends it with another one, and is no good setup unless it is the last.
const ALL_RAN: i32 = 86;

/// Behind each line: one that did not end with 0 ends the setup. `-e` alone passes over what fails in front of `&&`
/// or behind `!` (POSIX.1-2024, Shell Command Language, 2.15, `set -e`).
const MUST_PASS: &str = "{ carson_step=$?; case $carson_step in 0) ;; *) \\exit \"$carson_step\" ;; esac; } 2>/dev/null";

/// Makes the layer that is missing, if one is. What the workspace stands on then; `None` for a copy.
pub(crate) async fn complete(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    held: Held,
) -> Result<Option<Held>, Halt> {
    let Some(missing) = held.missing.clone() else {
        return Ok(Some(held));
    };
    let within = site.repo.setup.timeout.min(ctx.remaining());
    let turn = tokio::select! {
        turn = missing.turn(within) => turn,
        never = tells_of_waiting(ctx, site.repo) => match never {},
    };
    let turn = turn.or_broken("waiting for a setup")?;
    // Another firing may have made it meanwhile.
    let again = layers::stand(ctx.home, ctx.role, site.repo, site.mirror, site.base);
    let Some(held) = again.await.filter(|held| held.missing.is_some()) else {
        let again = layers::stand(ctx.home, ctx.role, site.repo, site.mirror, site.base);
        return Ok(again.await);
    };
    if turn.is_none() {
        let name = site.repo.name.as_str();
        return Err(Halt::Skipped(SkipReason::setup_runs(
            name,
            within.as_secs(),
        )));
    }
    let within = site.repo.setup.timeout.min(ctx.remaining());
    let begun = Instant::now();
    if let Some(failed) = missing.failed(within).filter(|_| !ctx.by_hand) {
        return Err(not_again(rec, site.repo, failed));
    }
    let made = make(ctx, rec, site, &held, &missing).await;
    if !matches!(made, Ok(Ok(()))) {
        missing.give_up(ctx.home).await;
    }
    if let Err(why) = made? {
        // One whose time was over holds back who has no more time than that.
        let cut_after = (begun.elapsed() >= within).then_some(within);
        missing.note_failure(&site.repo.setup, (&why, cut_after));
        return Err(refuse(rec, site.repo, &why));
    }
    let made = layers::stand(ctx.home, ctx.role, site.repo, site.mirror, site.base);
    Ok(made.await)
}

/// Says that another firing runs it, where that takes longer than a moment.
async fn tells_of_waiting(ctx: &Ctx<'_>, repo: &Repo) -> Infallible {
    tokio::time::sleep(MOMENT).await;
    ctx.waits_for_setup(&repo.name);
    std::future::pending().await
}

/// Before anything is taken: a setup that failed a short time ago is not run again, so nobody claims work for it.
///
/// # Errors
/// That it failed.
pub(crate) async fn may_run(ctx: &Ctx<'_>, rec: &mut Record, repo: &Repo) -> Result<(), Halt> {
    if ctx.by_hand || repo.setup.lines.is_empty() {
        return Ok(());
    }
    let mirror = ctx.home.mirror(repo);
    // What cannot be found out now is where the workspace is made.
    let Ok(base) = mirror.resolve(&repo.base).await else {
        return Ok(());
    };
    let within = repo.setup.timeout.min(ctx.remaining());
    match layers::rests(ctx.home, (ctx.role, repo), &mirror, &base, within).await {
        Some(failed) => Err(not_again(rec, repo, failed)),
        None => Ok(()),
    }
}

fn not_again(rec: &mut Record, repo: &Repo, (why, minutes): (String, u64)) -> Halt {
    let why = format!(
        "it was not run again: it failed a short time ago ({why}). It is tried again in {minutes} \
         minutes, when something changes on which it depends, by `carson fire`, or after \
         `carson workspaces prune`"
    );
    refuse(rec, repo, &why)
}

/// Runs the lines in a workspace of their own; why what they left is none.
async fn make(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    held: &Held,
    missing: &Missing,
) -> Result<Result<(), String>, Halt> {
    let half = missing
        .half(ctx.home)
        .await
        .or_broken("making room for a setup")?;
    let bench = site.bench.for_setup(&half, held.stand.clone());
    bench
        .create(ctx.role)
        .or_broken("making room for a setup")?;
    if let Some(layered) = bench.layered() {
        let tree = bench.tree();
        let made = site.mirror.add_layered(&tree, BRANCH, site.base, &layered);
        made.await.or_broken("making room for a setup")?;
    }
    let at = Site {
        bench: &bench,
        ..*site
    };
    toolchains::try_resolve(ctx, rec, &at).await?;
    let (done, text) = lines(ctx, rec, site, &bench, ("", Some(missing.log()))).await?;
    if !passed(&done) {
        // First of all: what it left may have filled the disk on which the log is written.
        missing.give_up(ctx.home).await;
    }
    let log = keep_log(missing.log(), &text);
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    if !passed(&done) {
        return Ok(Err(failure(&how(site.repo, &done), &text, log.as_deref())));
    }
    match missing.adopt(ctx.home, &bench, (&half, site.base)).await {
        Ok(()) => Ok(Ok(())),
        // Whatever is in the way is the setup's: a directory without rights, or a full disk.
        Err(LayerError::Git(GitError::Unseen { source, .. })) => Ok(Err(source.to_string())),
        Err(error) => Ok(Err(format!(
            "what it left cannot be kept: {}",
            with_causes(&error)
        ))),
    }
}

/// Writes down what a setup printed; where, if it could be.
fn keep_log(path: PathBuf, text: &str) -> Option<PathBuf> {
    let kept = live_log::create(&path).and_then(|mut log| log.write_all(text.as_bytes()));
    match kept {
        Ok(()) => Some(path),
        Err(error) => {
            warn!(path = %path.display(), %error, "what a setup printed could not be kept");
            None
        }
    }
}

/// Runs the lines in a workspace that is a copy.
pub(crate) async fn in_copy(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    (site, branch): (&Site<'_>, &str),
) -> Result<(), Halt> {
    toolchains::try_resolve(ctx, rec, site).await?;
    let then = Then::PutBack {
        commit: site.base,
        branch,
    };
    let log = layers::log_of_copy(ctx.home, site.repo);
    let done = in_bench(ctx, rec, site, (then, Some(log))).await?;
    let failed = done.err().map(|Failed { how, said }| {
        let log = keep_log(layers::log_of_copy(ctx.home, site.repo), &said);
        failure(&how, &said, log.as_deref())
    });
    layers::note_copy(ctx.home, site.repo, failed.as_deref());
    match failed {
        Some(why) => Err(refuse(rec, site.repo, &why)),
        None => Ok(()),
    }
}

/// Runs the lines in a bench or room as it is; what they printed when they failed.
pub(crate) async fn in_place(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    then: Then<'_>,
) -> Result<Result<(), Failed>, Halt> {
    let log = match ctx.is_only_asked {
        true => None,
        false => log_of_room(ctx, rec),
    };
    in_bench(ctx, rec, site, (then, log)).await
}

/// Where a setup in a clean room is followed: beside the transcript of the session whose work is judged there.
fn log_of_room(ctx: &Ctx<'_>, rec: &Record) -> Option<PathBuf> {
    let dir = ctx.home.fleet.layout.transcripts(&ctx.id);
    private_dir(&dir).ok()?;
    Some(dir.join(format!("{:02}-setup.txt", rec.tally().sessions)))
}

async fn in_bench(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    (then, log): (Then<'_>, Option<PathBuf>),
) -> Result<Result<(), Failed>, Halt> {
    let included = site.bench.has_included(&site.repo.include);
    let (done, text) = lines(ctx, rec, site, site.bench, (&then.lines(), log)).await?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    if passed(&done) {
        let again = site.bench.include_again(&included);
        again.map_err(|failed| not_included(rec, site.repo, failed))?;
    }
    Ok(passed(&done).then_some(()).ok_or_else(|| Failed {
        how: how(site.repo, &done),
        said: text,
    }))
}

/// A setup that did not pass.
pub(crate) struct Failed {
    /// How it ended.
    pub how: String,
    /// What it printed.
    pub said: String,
}

/// Whether a room with this commit needs the lines to run: nothing of a setup lies below it, or the work
/// changed what that depends on.
pub(crate) async fn is_needed(
    repo: &Repo,
    bench: &Bench,
    (seen, base): (&Seen, &Oid),
    commit: &Oid,
) -> Result<bool, Halt> {
    if repo.setup.lines.is_empty() {
        return Ok(false);
    }
    if bench.layered().is_none() {
        return Ok(true);
    }
    if base == commit {
        return Ok(false);
    }
    let before = seen.files_where(base, decides(&repo.setup)).await;
    let now = seen.files_where(commit, decides(&repo.setup)).await;
    Ok(before.or_broken("reading the base")? != now.or_broken("reading the commit")?)
}

/// Copies what the repository's `include` names.
pub(crate) fn include(rec: &mut Record, repo: &Repo, bench: &Bench) -> Result<(), Halt> {
    let made = bench.include(&repo.include);
    made.map_err(|failed| not_included(rec, repo, failed))
}

fn not_included(rec: &mut Record, repo: &Repo, (path, error): (PathBuf, std::io::Error)) -> Halt {
    let id = format!("repo.{}.include", repo.name);
    let why = format!(
        "{} cannot be copied into the workspace: {error}",
        path.display()
    );
    carson_checks::refuse(&mut rec.checks, id, why)
}

/// Runs the lines. What they printed, and whom they could not reach, is for people.
async fn lines(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    bench: &Bench,
    (then, log): (&str, Option<PathBuf>),
) -> Result<(Finished, String), Halt> {
    let setup = &site.repo.setup;
    ctx.runs_setup(&site.repo.name, log.as_deref());
    let title = format!("setup of {}", site.repo.name);
    let mut log = log.map(|log| LiveLog::begin(&log, &ctx.home.redactor, &title));
    let limits = Limits {
        keep: KEPT + Captured::MARGIN,
        ..Limits::within(setup.timeout.min(ctx.remaining()))
    };
    let walls = sandboxed_run::walls(ctx, rec, site.mirror, bench, Access::Write, "setup")?;
    let command = Command::new("/bin/sh", bench.seen_tree())
        .arg("-c")
        .arg(script(&setup.lines, then))
        .exact_env(environment(ctx, rec, site, bench)?)
        .confined(walls.profile());
    let refused = RefusedHosts::so_far(rec);
    let done = supervise(&command, &limits, &ctx.cancel, |line| {
        if let Some(log) = &mut log {
            log.add(line.bytes);
        }
        std::ops::ControlFlow::Continue(())
    })
    .await
    .or_broken("running the setup")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    let said = said(ctx, site.repo, &done);
    let refused = refused.since(ctx, rec);
    Ok((done, said + &refused))
}

/// The lines in their order, in one shell, and what follows them. Each is said before what it prints. The last one may
/// end its shell: nothing comes behind it. No line makes another word of those that are ours (`\eval`: no alias).
fn script(lines: &[String], then: &str) -> String {
    let mut script = "exec 2>&1; set -ex\n".to_owned();
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter().enumerate() {
        let step = format!("\\eval {}", shell_word(line));
        let step = match at == last {
            true => format!("( {step}\n)"),
            false => step,
        };
        script.push_str(&format!("{step}\n{MUST_PASS}\n"));
    }
    format!("{script}{then}\n{{ \\exit {ALL_RAN}; }} 2>/dev/null")
}

fn passed(done: &Finished) -> bool {
    done.exit == Exit::Code(ALL_RAN) && done.stopped.is_none()
}

fn said(ctx: &Ctx<'_>, repo: &Repo, done: &Finished) -> String {
    let printed = done.stdout.text_without(|text| ctx.redacted(text));
    format!("setup of {}\n{printed}\n", repo.name)
}

/// How lines ended that did not pass.
fn how(repo: &Repo, done: &Finished) -> String {
    let (ran, within) = (done.stopped_after, repo.setup.timeout.as_secs());
    match (done.stopped, done.exit) {
        (Some(StopReason::WallClock), _) if ran < Some(repo.setup.timeout) => {
            let ran = ran.map_or(0, |ran| ran.as_secs());
            format!("was stopped after {ran} s, at the end of limits.wall_clock of its role")
        }
        (Some(StopReason::WallClock), _) => {
            format!("was stopped after its time (setup_timeout is {within} s)")
        }
        (Some(StopReason::OutputCap), _) => {
            let most = Limits::OUTPUT >> 20;
            format!("was stopped: it printed more than the {most} MB that are read")
        }
        (Some(stopped), _) => format!("was stopped ({stopped:?})"),
        (None, Exit::Code(0)) => {
            "ended before its last step: one before that ended the shell (exit, exec, return or a trap)".to_owned()
        }
        (None, Exit::Code(code)) => format!("ended with exit code {code}"),
        (None, exit) => format!("ended with {exit}"),
    }
}

/// How it ended, its log and the end of what it printed.
fn failure(how: &str, text: &str, log: Option<&Path>) -> String {
    let end = end_of(text, TOLD);
    let log = log.map_or_else(String::new, |log| format!("; its log is {}", log.display()));
    format!("it {how}{log}; its end: {end}")
}

pub(crate) fn refuse(rec: &mut Record, repo: &Repo, why: &str) -> Halt {
    let id = format!("repo.{}.setup", repo.name);
    let why = format!("the setup of {} failed: {why}", repo.name);
    carson_checks::refuse(&mut rec.checks, id, why)
}
