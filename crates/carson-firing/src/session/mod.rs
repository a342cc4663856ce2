//! The only place that runs an agent CLI: gate → prepare → drive → record → verdict.
//!
//! Before every session the stops that may have come up meanwhile are asked again; after it, what it
//! used and what was denied goes to the row. A provider limit sets the block flag before anything else
//! happens, so that no other firing walks into the same wall; so does a provider that is down for
//! everybody (`outage.rs`).

pub(crate) mod alone;
mod ask;
mod capability;
mod drive;
mod failover;
mod gate;
mod hook_events;
mod limit;
mod outage;
mod prepare;
mod record;
mod retry;
mod route;
mod stillness;
mod usage;
mod verdict;

use std::time::{Duration, Instant};

use carson_config::Account;
use carson_core::event::Failover;
use carson_core::settle::Halt;
use carson_core::{BlockKind, Stage};
use carson_engine::{Access, Ended, SessionEnd};

use crate::ctx::Ctx;
use crate::full_disk;
use crate::placed::Placed;
use crate::prompt::Filling;
use crate::record::Record;
use carson_home::halt::OrBroken;
use prepare::Prepared;
use verdict::{Next, verdict};

pub(crate) use ask::Ask;
pub(crate) use hook_events::Events;

/// What was prepared for a session longer ago is prepared anew.
const FRESH: Duration = Duration::from_secs(2);

/// How an execute session ended, when it did not end the firing.
pub(crate) enum ExecuteEnd {
    /// With a final text.
    Said(String),
    /// Before it came to one, at one of its bounds; and what the firing says if nothing better follows.
    Cut(Halt),
}

/// Runs a plan, review, revise or diff-review session: read-only, its final text is the answer.
pub(crate) async fn read_only(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    ask: Ask<'_>,
) -> Result<String, Halt> {
    let end = run(ctx, rec, placed, ask).await?;
    match cut(&end.ended) {
        Some(halt) => Err(halt),
        None => Ok(end.text),
    }
}

/// Runs an execute session: full trust, behind the hook. `must_change` says whether its `[OK]` is one only
/// with a changed worktree.
pub(crate) async fn execute(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    filling: &Filling,
    must_change: bool,
) -> Result<ExecuteEnd, Halt> {
    let bench = placed.place.bench.clone();
    let ask = Ask {
        stage: Stage::Execute,
        bench: &bench,
        filling,
        must_change,
    };
    let end = run(ctx, rec, placed, ask).await?;
    Ok(match cut(&end.ended) {
        Some(halt) => ExecuteEnd::Cut(halt),
        None => ExecuteEnd::Said(end.text),
    })
}

/// What an end at one of a session's bounds is for its firing.
fn cut(ended: &Ended) -> Option<Halt> {
    match ended {
        Ended::MaxTurns => Some(Halt::OutOfTurns),
        Ended::MaxToolCalls => Some(Halt::OutOfToolCalls),
        Ended::Circled(circle) => Some(Halt::InCircles(circle.to_string())),
        _ => None,
    }
}

/// One answer, from as many sessions as it takes: `retry` bounds those with the same account, and the
/// accounts of the role those with another one.
async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    ask: Ask<'_>,
) -> Result<SessionEnd, Halt> {
    let entered = ctx.enter(ask.stage);
    route::enter(ctx, rec, placed, ask.stage).await?;
    let answered = answer(ctx, rec, placed, (ask, entered)).await;
    let left = route::leave(ctx, rec, placed).await;
    let end = answered?;
    left?;
    Ok(end)
}

async fn answer(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    (ask, entered): (Ask<'_>, impl Future<Output = ()>),
) -> Result<SessionEnd, Halt> {
    // Of those that write only the first session of a firing moves on: later ones would lose what was done.
    let may_move_on = rec.tally().sessions == 0 || ask.stage.judges();
    let mut entered = Some(entered);
    loop {
        let account = rec.required_account(ctx)?;
        // No session begins before both are done.
        let is_entered = async {
            if let Some(entered) = entered.take() {
                entered.await;
            }
        };
        let may_start = gate::may_start(ctx, rec, ask.stage);
        // While the store answers.
        let asked = Instant::now();
        let prepared = Prepared::make(ctx, rec, placed, ask);
        let (halt, (), prepared) = tokio::join!(may_start, is_entered, prepared);
        if !matches!(halt, Ok(None)) {
            // There is no session that could use it.
            let taken_back = ask.bench.take_back();
            taken_back.or_broken("taking back what a session would have been granted")?;
        }
        if let Some(halt) = halt? {
            let left = Left { account, halt };
            move_on(ctx, rec, placed, left, (ask.stage, may_move_on)).await?;
            continue;
        }
        let prepared = match asked.elapsed() < FRESH {
            true => prepared?,
            // It waited for a provider, and what is left to be spent may be less.
            false => Prepared::make(ctx, rec, placed, ask).await?,
        };
        let ran = drive::drive(ctx, rec, placed, prepared).await?;
        full_disk::after_session(ctx, ask.bench).await;
        record::record(ctx, rec, placed, ask.stage, &ran).await?;
        if let Some(halt) = outage::hear(ctx, account, &ran.end.ended).await {
            let left = Left { account, halt };
            move_on(ctx, rec, placed, left, (ask.stage, may_move_on)).await?;
            continue;
        }
        if another_can(ctx, rec, placed, account, (ask, &ran.end)).await? {
            continue;
        }
        let harmless = retry::is_harmless(placed, ask.access(), &ran).await;
        match verdict(
            &ran.end.ended,
            ask.stage,
            &retry::standing(ctx, rec, harmless),
        ) {
            Next::Done => return Ok(ran.end),
            Next::Again(pause) => retry::wait(ctx, rec, ask.stage, &pause).await?,
            Next::Limited(limit) => {
                let halt = limit::hit(ctx, account, &limit, retry::not_before(ctx, rec)).await;
                let left = Left { account, halt };
                move_on(ctx, rec, placed, left, (ask.stage, may_move_on)).await?;
            }
            Next::Stop(halt) => return Err(halt),
        }
    }
}

/// An account that cannot be asked now, and what the firing halts with that has no other one.
struct Left<'h> {
    account: &'h Account,
    halt: Halt,
}

/// The firing goes on with the next account of its role, or ends.
async fn move_on(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    left: Left<'_>,
    (stage, may): (Stage, bool),
) -> Result<(), Halt> {
    let why = match &left.halt {
        Halt::RateLimited {
            kind: Some(BlockKind::Outage),
            ..
        }
        | Halt::Skipped(_) => Failover::Outage,
        _ => Failover::Limit,
    };
    // Who judges has a room of its own, and leaves the work as it is.
    let moves = may
        && (stage.judges() || placed.place.is_untouched().await)
        && failover::moves_on(ctx, rec, stage, left.account, why).await;
    if !moves {
        return Err(left.halt);
    }
    rec.open_proxy_anew(ctx, &placed.place.bench.root).await
}

/// What a session could not do the next account of the role is asked, once in a firing, where no work
/// would be lost by that.
async fn another_can(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    account: &Account,
    (ask, end): (Ask<'_>, &SessionEnd),
) -> Result<bool, Halt> {
    if rec.gave_way || !failover::has_next(ctx, rec, ask.stage, account) {
        return Ok(false);
    }
    let Some(gap) = capability::gap(placed, ask, end).await else {
        return Ok(false);
    };
    let is_safe = ask.access() == Access::Read || placed.place.is_untouched().await;
    if !is_safe || !failover::moves_on(ctx, rec, ask.stage, account, gap).await {
        return Ok(false);
    }
    rec.gave_way = true;
    rec.open_proxy_anew(ctx, &placed.place.bench.root).await?;
    Ok(true)
}
