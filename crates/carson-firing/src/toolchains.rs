//! Asks the toolchains of a repository what its work needs: in the workspace that stands on the base commit and
//! that no session has been in, behind the same walls.

use std::ffi::OsString;
use std::time::Duration;

use carson_bench::toolchains::{ANSWER, Found, question};
use carson_config::Toolchain;
use carson_core::settle::Halt;
use carson_core::text::end_of;
use carson_engine::Access;
use carson_home::halt::OrBroken;
use carson_proc::{Captured, Command, Finished, Limits, StopReason, run as supervise};

use crate::ctx::Ctx;
use crate::record::Record;
use crate::sandboxed_run;
use crate::site::{self, Site};

/// How long one of them may take; direnv may run what a repository wrote.
const WITHIN: Duration = Duration::from_secs(120);
/// Letters of what one said that a reason has.
const TOLD: usize = 300;

/// Asks all that the settings name. One that has no answer ends the firing before any session.
pub(crate) async fn resolve(ctx: &Ctx<'_>, rec: &mut Record, site: &Site<'_>) -> Result<(), Halt> {
    match asked(ctx, rec, site).await? {
        Ok(()) => {
            rec.checks
                .pass(format!("repo.{}.toolchains", site.repo.name));
            Ok(())
        }
        Err(why) => {
            let id = format!("repo.{}.toolchains", site.repo.name);
            let why = format!("the toolchains of {} are not known: {why}", site.repo.name);
            Err(carson_checks::refuse(&mut rec.checks, id, why))
        }
    }
}

/// The same before a setup, which may be what brings the tools: what is not there yet is no trouble.
pub(crate) async fn try_resolve(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
) -> Result<(), Halt> {
    if asked(ctx, rec, site).await?.is_err() {
        rec.toolchains = Found::default();
    }
    Ok(())
}

async fn asked(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
) -> Result<Result<(), String>, Halt> {
    rec.toolchains = Found::default();
    for toolchain in site.repo.setup.toolchains.clone() {
        if !is_named(site, toolchain).await {
            continue;
        }
        let env = site::environment(ctx, rec, site, site.bench)?;
        let path = env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.clone()).unwrap_or_default();
        let done = ask(ctx, rec, site, toolchain, env).await?;
        if !done.success() || done.stopped.is_some() {
            return Ok(Err(failure(ctx, toolchain, &done)));
        }
        let taken = rec.toolchains.take(toolchain, &done.stdout.text(), &path);
        if let Err(error) = taken {
            return Ok(Err(ctx.redacted(&error.to_string())));
        }
        rec.toolchains.places = Some((site.bench.seen_tree(), site.bench.seen_home()));
    }
    Ok(Ok(()))
}

/// Whether the base has a file for it.
async fn is_named(site: &Site<'_>, toolchain: Toolchain) -> bool {
    for file in toolchain.files() {
        if site.mirror.text_at(site.base, file, 1).await.is_some() {
            return true;
        }
    }
    false
}

async fn ask(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    site: &Site<'_>,
    toolchain: Toolchain,
    env: Vec<(OsString, OsString)>,
) -> Result<Finished, Halt> {
    let limits = Limits {
        keep: ANSWER + Captured::MARGIN,
        max_output: ANSWER as u64,
        ..Limits::within(WITHIN.min(ctx.remaining()))
    };
    let (bench, mirror) = (site.bench, site.mirror);
    // What it would leave in the worktree would be taken for work.
    let walls = sandboxed_run::walls(ctx, rec, mirror, bench, Access::Read, "toolchain")?;
    let command = Command::new("/bin/sh", bench.seen_tree())
        .arg("-c")
        .arg(question(toolchain))
        .exact_env(env)
        .confined(walls.profile());
    let done = supervise(&command, &limits, &ctx.cancel, |_| {
        std::ops::ControlFlow::Continue(())
    });
    let done = done.await.or_broken("asking a toolchain")?;
    sandboxed_run::record_level(ctx, rec, &walls, Some(done.exit), &done.stderr.text()).await?;
    if done.stopped == Some(StopReason::Cancelled) {
        return Err(Halt::Cancelled);
    }
    Ok(done)
}

fn failure(ctx: &Ctx<'_>, toolchain: Toolchain, done: &Finished) -> String {
    let said = done.stderr.text_without(|text| ctx.redacted(text));
    let end = end_of(&said, TOLD);
    match done.stopped {
        Some(StopReason::WallClock) => format!("{toolchain} did not answer within its time: {end}"),
        Some(StopReason::OutputCap) => format!("{toolchain} prints more than {ANSWER} bytes"),
        _ => format!("{toolchain} has no answer ({}): {end}", done.exit),
    }
}
