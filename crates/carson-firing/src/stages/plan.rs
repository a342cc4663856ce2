//! The first session: read-only, writes the plan.

use carson_core::settle::Halt;
use carson_core::{Sentinel, Stage};

use super::confirm;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::prompt::Filling;
use crate::record::Record;
use crate::said_last::no_sentinel;
use crate::session::{self, Ask};

/// There is a plan, or the role works without one.
pub(crate) struct Planned<'r, 'h> {
    pub placed: Placed<'r, 'h>,
    pub plan: Option<String>,
}

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    mut placed: Placed<'r, 'h>,
) -> Result<Planned<'r, 'h>, Halt> {
    if !ctx.has_stage(Stage::Plan) {
        return Ok(Planned { placed, plan: None });
    }
    let plan = write(ctx, rec, &mut placed, Stage::Plan, Filling::default()).await?;
    Ok(Planned {
        placed,
        plan: Some(plan),
    })
}

/// A session that ends with a plan: the first one, or the revision.
pub(crate) async fn write(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    stage: Stage,
    filling: Filling,
) -> Result<String, Halt> {
    let bench = placed.place.bench.clone();
    let ask = Ask {
        stage,
        bench: &bench,
        filling: &filling,
        must_change: false,
    };
    let text = session::read_only(ctx, rec, placed, ask).await?;
    match Sentinel::parse(&text) {
        Some(Sentinel::Ok(_)) => Ok(text),
        Some(Sentinel::AlreadyDone(claim)) => {
            Err(confirm::done_before(ctx, rec, placed, claim).await?)
        }
        Some(other) => Err(Halt::Planned(other)),
        None => Err(no_sentinel(stage, &text)),
    }
}
