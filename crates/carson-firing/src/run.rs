//! One firing, as the list of its stages.

use std::time::Duration;

use carson_core::settle::{Halt, settle};
use carson_core::{FiringId, Stage};
use carson_proc::{Cancel, ProcessId};
use carson_store::Firing as Row;
use tracing::info;

use crate::conclude;
use crate::ctx::Ctx;
use crate::ended::{Ended, FiringError};
use crate::fenced;
use crate::full_disk;
use crate::lessons;
use crate::life;
use crate::placed::Placed;
use crate::prompt;
use crate::reached::Reached;
use crate::record::Record;
use crate::said_last;
use crate::stages::command::Ran;
use crate::stages::facts::Findings;
use crate::stages::{
    baseline, command, coverage, diff_review, execute, facts, held_against, pick, plan, preflight,
    red_to_green, review, wanted, workflows, workspace,
};
use crate::steps::Steps;
use carson_bench::bench::Bench;
use carson_home::Home;

/// How long a stage may go on after the wall clock ran out before it is dropped. Sessions stop by
/// themselves at the wall clock; this is for a git or forge call that does not.
const BACKSTOP: Duration = Duration::from_secs(30);

/// How long a firing waits for a database that is away before it leaves its end to recovery: longer than one is away
/// by itself. Its sessions end in their time all the same.
const PATIENCE: Duration = Duration::from_secs(6 * 60 * 60);

/// Runs a claimed firing to its end, and tells of its steps.
///
/// # Errors
/// Only when the firing cannot be read or concluded; every other trouble is an outcome.
pub async fn run(
    home: &Home,
    id: FiringId,
    cancel: Cancel,
    steps: Steps,
) -> Result<Ended, FiringError> {
    let home = &Home {
        store: home.store.clone().patient(PATIENCE),
        ..home.clone()
    };
    let row = claimed_row(home, id).await?;
    let gone = || FiringError::RoleGone {
        id,
        role: row.role.clone(),
    };
    let role = home.fleet.roles.get(&row.role).ok_or_else(gone)?;
    let ctx = Ctx {
        steps,
        ..Ctx::of_row(home, &row, role, cancel)
    };
    let me = ProcessId::current();
    let now = home.clock.now();
    let found = life::found(home, id);
    let begun = ctx
        .as_firing()
        .start_firing((me.pid, me.start), found.space.as_deref(), now);
    // One waits for the disk, the other for a thread.
    let (begun, ()) = tokio::join!(begun, home.store.get_ready_for_notes());
    if !begun? {
        return Err(FiringError::NotClaimed {
            id,
            why: "another process was faster".to_owned(),
        });
    }
    info!(firing.id = %id, firing.role = %row.role, "firing started");
    let _watch = fenced::Watch::start(&ctx);
    note_prompts(&ctx).await;
    // Both outlive the stages: one that is dropped at the end of its time leaves what it reached.
    let (mut reached, mut rec) = (Reached::default(), Record::of_row(&row));
    let (halt, findings) = Box::pin(through_the_stages(&ctx, &mut reached, &mut rec)).await;
    rec.close_proxy(&ctx).await;
    full_disk::after_sessions(home, &Bench::of(home, id)).await;
    lessons::collect(&ctx, &reached).await;
    let work = (role, reached.taken.as_ref());
    let mut facts = facts::gather(work, &rec, reached.place.as_mut(), halt, findings).await;
    let mends = reached
        .taken
        .as_ref()
        .and_then(|taken| taken.mends.as_ref());
    facts.threads = mends.map(|mends| mends.threads.clone()).unwrap_or_default();
    let taken = reached.taken.as_ref();
    let first = taken.and_then(|taken| taken.first.as_ref());
    facts.is_second_try_of(first.map(|first| first.pull));
    ctx.enter(Stage::Settle).await;
    let mut settled = settle(&facts);
    if let Some(why) = said_last::refusal(&rec, &facts) {
        settled.reason.push_str(&format!(": {why}"));
    }
    match Box::pin(conclude::conclude(
        &ctx,
        &rec,
        &mut reached,
        settled,
        &facts,
    ))
    .await
    {
        Err(FiringError::Store(error)) if error.is_fenced() => {
            Ok(fenced::put_aside(&ctx, &rec, &mut reached).await)
        }
        ended => ended,
    }
}

/// What became of its work will be held against them.
async fn note_prompts(ctx: &Ctx<'_>) {
    let version = prompt::version(ctx.role);
    let noted = ctx.as_firing().set_prompt_version(&version);
    ctx.best_effort("the version of its prompts", noted).await;
}

async fn claimed_row(home: &Home, id: FiringId) -> Result<Row, FiringError> {
    let row = home
        .store
        .firing(id)
        .await?
        .ok_or(FiringError::Unknown(id))?;
    let refuse = |why: &str| {
        Err(FiringError::NotClaimed {
            id,
            why: why.to_owned(),
        })
    };
    if row.ended_at.is_some() {
        return refuse("it has ended");
    }
    if row.pid.is_some() {
        return refuse("a process runs it already");
    }
    Ok(row)
}

/// The stages in their order. A halt is the only early exit.
async fn stages<'h>(
    ctx: &Ctx<'h>,
    reached: &mut Reached<'h>,
    rec: &mut Record,
) -> Result<Findings, Halt> {
    let ready = preflight::run(ctx, rec).await?;
    let picked = pick::run(ctx, rec, &mut reached.taken, ready).await?;
    if let Some(effects) = picked.taken.decided.clone() {
        return Ok(Findings::decided(effects));
    }
    let placed = workspace::run(ctx, rec, &mut reached.place, picked).await?;
    let placed = baseline::run(ctx, rec, placed).await?;
    passed_in_the_bench(ctx, rec, &placed);
    let placed = coverage::aim(ctx, rec, placed).await?;
    let placed = remember(ctx, placed).await;
    let taken = placed.taken;
    let mut executed = match &ctx.role.command {
        Some(line) => match command::run(ctx, rec, placed, line).await? {
            Ran::Changed(executed) => *executed,
            Ran::Tells(effects) => return Ok(Findings::decided(effects)),
        },
        None => {
            let planned = plan::run(ctx, rec, placed).await?;
            let agreed = review::run(ctx, rec, planned).await?;
            wanted::still(ctx, taken).await?;
            execute::run(ctx, rec, agreed).await?
        }
    };
    let found = diff_review::run(ctx, rec, &mut executed).await?;
    let mut found = red_to_green::run(ctx, rec, &mut executed.placed, found).await?;
    if found.is_finished() {
        found.covered = coverage::with_work(ctx, rec, &mut executed.placed).await?;
    }
    let found = workflows::run(ctx, rec, &mut executed.placed, found).await?;
    let found = held_against::run(ctx, rec, &mut executed, found).await?;
    wanted::still(ctx, taken).await?;
    Ok(found)
}

/// What the fleet learned before, for its sessions; and where those that change something say what they learned.
async fn remember<'r, 'h>(ctx: &Ctx<'_>, mut placed: Placed<'r, 'h>) -> Placed<'r, 'h> {
    placed.lessons = lessons::told(ctx, &placed).await;
    let memory = &ctx.home.fleet.memory;
    let asks = memory.recall && !memory.killed && !ctx.is_only_asked && ctx.role.makes_commits();
    placed.proposals = asks.then(|| placed.place.bench.lessons());
    placed
}

/// What is asked in the bench has passed, or is not asked any more: a streak of failures is over.
fn passed_in_the_bench(ctx: &Ctx<'_>, rec: &mut Record, placed: &Placed<'_, '_>) {
    let (role, repo) = (&ctx.role.name, &placed.taken.repo.name);
    for check in ["identity", "promise"] {
        rec.checks.pass(format!("role.{role}.{check}"));
    }
    for check in ["include", "setup"] {
        rec.checks.pass(format!("repo.{repo}.{check}"));
    }
}

async fn through_the_stages<'h>(
    ctx: &Ctx<'h>,
    reached: &mut Reached<'h>,
    rec: &mut Record,
) -> (Option<Halt>, Findings) {
    let patience = ctx.role.limits.wall_clock + BACKSTOP;
    match tokio::time::timeout(patience, stages(ctx, reached, rec)).await {
        Ok(Ok(findings)) => (None, findings),
        Ok(Err(halt)) => (Some(halt), Findings::default()),
        Err(_) => (
            Some(Halt::TimedOut("the wall clock ran out".into())),
            Findings::default(),
        ),
    }
}
