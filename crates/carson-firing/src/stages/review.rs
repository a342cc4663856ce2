//! A fresh session judges the plan; the planner may answer, a bounded number of times.

use carson_core::settle::Halt;
use carson_core::{Event, Stage, Verdict};

use super::plan::{Planned, write};
use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::prompt::Filling;
use crate::record::Record;
use crate::said_last::no_sentinel;
use crate::session::{self, Ask};

/// The plan that will be executed.
pub(crate) struct Agreed<'r, 'h> {
    pub placed: Placed<'r, 'h>,
    pub plan: Option<String>,
}

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    planned: Planned<'r, 'h>,
) -> Result<Agreed<'r, 'h>, Halt> {
    let Planned { mut placed, plan } = planned;
    let Some(mut plan) = plan else {
        return Ok(Agreed { placed, plan: None });
    };
    if !ctx.has_stage(Stage::Review) {
        return Ok(Agreed {
            placed,
            plan: Some(plan),
        });
    }
    for round in 0..=ctx.role.limits.max_revisions {
        let filling = Filling {
            plan: Some(plan.clone()),
            ..Filling::default()
        };
        let desk = clean_rooms::with_fresh_desk(ctx, &placed).await?;
        let ask = Ask {
            stage: Stage::Review,
            bench: &desk,
            filling: &filling,
            must_change: false,
        };
        let review = session::read_only(ctx, rec, &mut placed, ask).await?;
        let verdict = Verdict::parse(&review);
        note_findings(ctx, Stage::Review, verdict).await;
        match verdict {
            Some(Verdict::Approve) => {
                return Ok(Agreed {
                    placed,
                    plan: Some(plan),
                });
            }
            Some(Verdict::Reject) => return Err(Halt::PlanRejected("[REJECT]".into())),
            // What cannot be read is not an approval.
            None => return Err(no_sentinel(Stage::Review, &review)),
            Some(Verdict::Revise) if round == ctx.role.limits.max_revisions => break,
            Some(Verdict::Revise) => {
                let filling = Filling {
                    findings: Some(review),
                    ..filling
                };
                plan = write(ctx, rec, &mut placed, Stage::Revise, filling).await?;
            }
        }
    }
    let rounds = ctx.role.limits.max_revisions;
    Err(Halt::PlanRejected(format!(
        "[REVISE] again after {rounds} revisions"
    )))
}

/// Notes that a review found something: what `carson memory lift` counts.
pub(super) async fn note_findings(ctx: &Ctx<'_>, stage: Stage, verdict: Option<Verdict>) {
    let verdict = match verdict {
        Some(Verdict::Revise) => "revise",
        Some(Verdict::Reject) => "reject",
        Some(Verdict::Approve) | None => return,
    };
    ctx.event(&Event::ReviewFound { stage, verdict }).await;
}
