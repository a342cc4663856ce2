//! What a session used and was denied goes to the row.

use carson_core::settle::Halt;
use carson_core::{Event, Stage};
use carson_engine::SessionEnd;
use carson_store::Stopped;
use tracing::info;

use super::drive::Ran;
use super::{limit, usage};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::sandboxed_run;
use carson_bench::proxy;

/// Most blocked calls of one session that are noted; more say nothing new.
const MAX_NOTED: usize = 50;

/// Notes all of it. The only error is a role that requires walls which could not be put up: then the
/// session never began.
pub(super) async fn record(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    stage: Stage,
    ran: &Ran<'_>,
) -> Result<(), Halt> {
    let end = &ran.end;
    sandboxed_run::record_level(ctx, rec, &ran.walls, end.exit, &end.said).await?;
    info!(firing.id = %ctx.id, session.ended = ?end.ended, session.turns = end.turns, "session ended");
    count(ctx, rec, placed, stage, ran).await;
    if end.leaked > 0 {
        // What was left is dead; the record says that the session did not clean up behind itself.
        let processes = end.leaked;
        ctx.event(&Event::SessionLeftBehind { stage, processes })
            .await;
    }
    if end.out_of_memory > 0 {
        let processes = end.out_of_memory;
        ctx.event(&Event::SessionOutOfMemory { stage, processes })
            .await;
    }
    note_denied(ctx, end).await;
    limit::note_windows(ctx, ran.account, &ran.watch.windows).await;
    if let Some(open) = &rec.proxy {
        proxy::record(&ctx.firing(), open).await;
    }
    let told = carson_engine::tells_denials(ran.account.engine);
    let calls = ran.watch.calls;
    ran.hook_events.report(ctx, &ran.hook, calls, told).await;
    Ok(())
}

async fn count(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    stage: Stage,
    ran: &Ran<'_>,
) {
    let end = &ran.end;
    // What the CLI's own tool rules refused is part of a session's normal life; what the hook
    // stopped is not.
    let blocked = end.denied.iter().filter(|denied| denied.by_hook).count();
    let blocked = u32::try_from(blocked).unwrap_or(u32::MAX);
    let model = ran.watch.model.as_deref().or(ran.model.as_deref());
    let used = usage::plausible_usage(ctx, placed, stage, model, end).await;
    rec.count(ctx, |tally| {
        tally.turns = tally.turns.saturating_add(used.turns);
        tally.tokens_in = tally.tokens_in.saturating_add(used.tokens_in);
        tally.tokens_out = tally.tokens_out.saturating_add(used.tokens_out);
        tally.blocked_calls += blocked;
        if !end.text.trim().is_empty() {
            tally.last_words.insert(stage, end.text.clone());
        }
        if let Some(cost) = used.cost_usd {
            tally.cost_estimated |= end.cost_usd.is_none();
            tally.cost_usd = Some(tally.cost_usd.unwrap_or(0.0) + cost);
        }
        let of_account = tally.used_of(&ran.account.name);
        of_account.turns = of_account.turns.saturating_add(used.turns);
        let tokens = used.tokens_in.saturating_add(used.tokens_out);
        of_account.tokens = of_account.tokens.saturating_add(tokens);
        match used.cost_usd {
            Some(cost) => {
                of_account.cost_estimated |= end.cost_usd.is_none();
                of_account.cost_usd = Some(of_account.cost_usd.unwrap_or(0.0) + cost);
            }
            None => of_account.untold += 1,
        }
    })
    .await;
}

async fn note_denied(ctx: &Ctx<'_>, end: &SessionEnd) {
    let stopped = end.denied.iter().take(MAX_NOTED).map(|denied| Stopped {
        rule: denied.reason.clone(),
        tool: denied.tool.clone(),
        call: denied.call.clone(),
    });
    ctx.note_stopped(stopped.collect()).await;
}
