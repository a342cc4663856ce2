//! The first session: read-only, writes the plan.

use carson_core::settle::Halt;
use carson_core::{Sentinel, Stage};

use super::confirm;
use super::workspace::Placed;
use crate::firing::Firing;
use crate::prompt::Filling;
use crate::session;

/// There is a plan, or the role works without one.
pub(crate) struct Planned<'f, 'h> {
    pub placed: Placed<'f, 'h>,
    pub plan: Option<String>,
}

pub(crate) async fn run<'f, 'h>(
    firing: &Firing<'_>,
    placed: Placed<'f, 'h>,
) -> Result<Planned<'f, 'h>, Halt> {
    if !firing.has_stage(Stage::Plan) {
        return Ok(Planned { placed, plan: None });
    }
    let plan = write(firing, &placed, Stage::Plan, Filling::default()).await?;
    Ok(Planned {
        placed,
        plan: Some(plan),
    })
}

/// A session that ends with a plan: the first one, or the revision.
pub(crate) async fn write(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    stage: Stage,
    filling: Filling,
) -> Result<String, Halt> {
    let bench = &placed.place.bench;
    let text = session::read_only(firing, placed, bench, stage, &filling).await?;
    match Sentinel::parse(&text) {
        Some(Sentinel::Ok(_)) => Ok(text),
        Some(Sentinel::AlreadyDone(claim)) => {
            Err(confirm::done_before(firing, placed, claim).await?)
        }
        Some(other) => Err(Halt::Planned(other)),
        None => Err(Halt::NoSentinel(stage.to_string())),
    }
}
