//! What a session used, as far as it can be.

use carson_core::plausible::{Possible, Used};
use carson_core::{Event, Stage};
use carson_engine::{SessionEnd, dearest, estimate};
use serde_json::json;
use tracing::warn;

use crate::ctx::Ctx;
use crate::placed::Placed;

/// What counts of what a session says that it used. What cannot be is an event of the firing.
pub(super) async fn plausible_usage(
    ctx: &Ctx<'_>,
    placed: &Placed<'_, '_>,
    stage: Stage,
    model: Option<&str>,
    end: &SessionEnd,
) -> Used {
    let estimated = || estimate(model, end.tokens_in, end.tokens_out);
    let told = Used {
        turns: end.turns,
        tokens_in: end.tokens_in,
        tokens_out: end.tokens_out,
        cost_usd: end.cost_usd.or_else(estimated),
    };
    let outbox = placed.place.bench.outbox();
    let turns = placed.brief(ctx, &outbox).max_turns(stage);
    let possible = Possible::within(end.elapsed, turns, dearest);
    let Some(held) = told.held_to(&possible, ctx.role.limits.max_cost_usd) else {
        return told;
    };
    warn!(firing.id = %ctx.id, ?told, ?held, "a session says that it used what it cannot have used");
    let shown = |used: &Used| {
        json!({
            "turns": used.turns, "tokens_in": used.tokens_in, "tokens_out": used.tokens_out,
            "cost_usd": used.cost_usd,
        })
    };
    let event = Event::UsageImplausible {
        stage,
        told: shown(&told),
        counted: shown(&held),
    };
    ctx.event(&event).await;
    held
}
