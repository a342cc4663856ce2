//! A fresh session judges the plan; the planner may answer, a bounded number of times.

use carson_core::settle::Halt;
use carson_core::{Stage, Verdict};

use super::plan::{Planned, write};
use super::workspace::Placed;
use crate::firing::Firing;
use crate::prompt::Filling;
use crate::rooms;
use crate::session;

/// The plan that will be executed.
pub(crate) struct Agreed<'f, 'h> {
    pub placed: Placed<'f, 'h>,
    pub plan: Option<String>,
}

pub(crate) async fn run<'f, 'h>(
    firing: &Firing<'_>,
    planned: Planned<'f, 'h>,
) -> Result<Agreed<'f, 'h>, Halt> {
    let Planned { placed, plan } = planned;
    let Some(mut plan) = plan else {
        return Ok(Agreed { placed, plan: None });
    };
    if !firing.has_stage(Stage::Review) {
        return Ok(Agreed {
            placed,
            plan: Some(plan),
        });
    }
    for round in 0..=firing.role.limits.max_revisions {
        let filling = Filling {
            plan: Some(plan.clone()),
            ..Filling::default()
        };
        let desk = rooms::with_fresh_desk(firing, &placed)?;
        let review = session::read_only(firing, &placed, &desk, Stage::Review, &filling).await;
        rooms::clear(firing, &placed).await;
        let review = review?;
        match Verdict::parse(&review) {
            Some(Verdict::Approve) => {
                return Ok(Agreed {
                    placed,
                    plan: Some(plan),
                });
            }
            Some(Verdict::Reject) => return Err(Halt::PlanRejected("[REJECT]".into())),
            // What cannot be read is not an approval.
            None => return Err(Halt::NoSentinel(Stage::Review.to_string())),
            Some(Verdict::Revise) if round == firing.role.limits.max_revisions => break,
            Some(Verdict::Revise) => {
                let filling = Filling {
                    findings: Some(review),
                    ..filling
                };
                plan = write(firing, &placed, Stage::Revise, filling).await?;
            }
        }
    }
    let rounds = firing.role.limits.max_revisions;
    Err(Halt::PlanRejected(format!(
        "[REVISE] again after {rounds} revisions"
    )))
}
