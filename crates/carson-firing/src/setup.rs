//! The setup of a repository: what makes a checkout ready to work in.
//!
//! Where workspaces stand on layers it runs once for each state of what it depends on, in a workspace of
//! its own before any session has been there, and what it leaves lies below all workspaces. In a copy it
//! runs each time. It runs as sessions do, behind the same walls and with the role's network, but without
//! anything by which they sign in.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use carson_bench::bench::Bench;
use carson_bench::environment::{From, Wanted};
use carson_bench::layers::{Held, LayerError, Missing, decides};
use carson_bench::proxy::Proxy;
use carson_config::Repo;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_engine::Access;
use carson_git::{GitError, Mirror, Oid, Seen};
use carson_home::halt::OrBroken;
use carson_proc::{Command, Finished, Limits, StopReason, run as supervise};
use tracing::info;

use crate::ctx::Ctx;
use crate::record::Record;
use crate::sandboxed_run;

/// The branch of a setup's own workspace.
const BRANCH: &str = "carson/setup";
/// Bytes of what the lines print, from its head and from its tail, that are kept.
const KEPT: usize = 32 * 1024;
/// Letters of it that a reason has.
const TOLD: usize = 600;

/// Where a setup runs.
pub(crate) struct Site<'s> {
    pub repo: &'s Repo,
    pub mirror: &'s Mirror,
    pub base: &'s Oid,
    /// The firing's bench.
    pub bench: &'s Bench,
}

/// Makes the layer that is missing, if one is.
pub(crate) async fn complete(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    held: &mut Held,
) -> Result<(), Halt> {
    let Some(missing) = held.missing.clone() else {
        return Ok(());
    };
    let within = site.repo.setup.timeout.min(ctx.remaining());
    let turn = missing
        .turn(within)
        .await
        .or_broken("waiting for a setup")?;
    held.complete().or_broken("taking up a setup")?;
    if held.missing.is_none() {
        return Ok(());
    }
    if turn.is_none() {
        let why = "another firing still runs it";
        return Err(refuse(rec, site.repo, why));
    }
    if let Some(why) = missing.failed() {
        return Err(refuse(rec, site.repo, &why));
    }
    let made = make(ctx, rec, site, held, &missing).await?;
    if let Err(why) = made {
        missing.note_failure(&why);
        return Err(refuse(rec, site.repo, &why));
    }
    held.complete().or_broken("taking up a setup")
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
    info!(firing.id = %ctx.id, repo = %site.repo.name, "the setup runs");
    let done = lines(ctx, rec, site, &bench).await?;
    let text = said(ctx, site.repo, &done);
    let mut log = OpenOptions::new();
    let log = log.write(true).create(true).truncate(true).mode(0o600);
    let kept = log.open(missing.log());
    let kept = kept.and_then(|mut log| log.write_all(text.as_bytes()));
    kept.or_broken("keeping what a setup printed")?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    if !passed(&done) {
        return Ok(Err(failure(
            &done,
            &text,
            &missing.log().display().to_string(),
        )));
    }
    match missing.adopt(ctx.home, &bench, &half).await {
        Ok(()) => Ok(Ok(())),
        Err(LayerError::Git(GitError::Unseen { source, .. })) => Ok(Err(source.to_string())),
        Err(error) => Err(Halt::Broken(format!("keeping what a setup left: {error}"))),
    }
}

/// Runs the lines in a bench or room as it is; what they printed when they failed.
pub(crate) async fn in_place(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
) -> Result<Result<(), String>, Halt> {
    let done = lines(ctx, rec, site, site.bench).await?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    let text = said(ctx, site.repo, &done);
    Ok(passed(&done).then_some(()).ok_or(text))
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
    let before = seen.files_named(base, decides).await;
    let now = seen.files_named(commit, decides).await;
    Ok(before.or_broken("reading the base")? != now.or_broken("reading the commit")?)
}

/// Copies what the repository's `include` names.
pub(crate) fn include(rec: &mut Record, repo: &Repo, bench: &Bench) -> Result<(), Halt> {
    bench.include(&repo.include).map_err(|(path, error)| {
        let id = format!("repo.{}.include", repo.name);
        let why = format!(
            "{} cannot be copied into the workspace: {error}",
            path.display()
        );
        carson_checks::refuse(&mut rec.checks, id, why)
    })
}

async fn lines(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    bench: &Bench,
) -> Result<Finished, Halt> {
    let setup = &site.repo.setup;
    let limits = Limits {
        keep: KEPT,
        ..Limits::within(setup.timeout.min(ctx.remaining()))
    };
    let walls = sandboxed_run::walls(ctx, rec, site.mirror, bench, Access::Write, "setup")?;
    let command = Command::new("/bin/sh", bench.seen_tree())
        .arg("-ec")
        .arg(setup.lines.join("\n"))
        .exact_env(environment(ctx, rec, site, bench)?)
        .confined(walls.profile());
    let done = supervise(&command, &limits, &ctx.cancel, |_| {
        std::ops::ControlFlow::Continue(())
    })
    .await
    .or_broken("running the setup")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    Ok(done)
}

/// That of a session, but for what it signs in with.
fn environment(
    ctx: &Ctx<'_>,
    rec: &Record,
    site: &Site<'_>,
    bench: &Bench,
) -> Result<Vec<(OsString, OsString)>, Halt> {
    let variables = bench.variables(&Wanted {
        home: ctx.home,
        id: ctx.id,
        role: ctx.role,
        account: rec.required_account(ctx)?,
        repo: &site.repo.name,
        protected: &site.repo.protected,
        work: WorkKey::None,
        branch: BRANCH,
        attempt: 0,
        egress: rec.proxy.as_ref().map_or_else(Vec::new, Proxy::variables),
    });
    let signs_in = |from| matches!(from, From::Account | From::SignIn | From::Identity);
    let plain = variables.into_iter().filter(|one| !signs_in(one.from));
    Ok(plain.map(|one| (one.name, one.value)).collect())
}

fn passed(done: &Finished) -> bool {
    done.success() && done.stopped.is_none()
}

fn said(ctx: &Ctx<'_>, repo: &Repo, done: &Finished) -> String {
    let (out, err) = (done.stdout.text(), done.stderr.text());
    let text = format!("$ {}\n{out}\n{err}", repo.setup.lines.join("\n$ "));
    ctx.redacted(&text)
}

fn failure(done: &Finished, text: &str, log: &str) -> String {
    let how = match done.stopped {
        Some(stopped) => format!("was stopped ({stopped:?})"),
        None => format!("ended with {:?}", done.exit),
    };
    let from = text.char_indices().rev().nth(TOLD).map_or(0, |(at, _)| at);
    format!(
        "it {how}; all of it is in {log}; its end: {}",
        text[from..].trim()
    )
}

pub(crate) fn refuse(rec: &mut Record, repo: &Repo, why: &str) -> Halt {
    let id = format!("repo.{}.setup", repo.name);
    let why = format!("the setup of {} failed: {why}", repo.name);
    carson_checks::refuse(&mut rec.checks, id, why)
}
