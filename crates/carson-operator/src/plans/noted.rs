//! Each plan that waits becomes a question.

use std::collections::BTreeSet;

use carson_firing::waiting_plans;
use carson_home::Home;
use carson_store::{NewApproval, PlanAt};
use chrono::TimeDelta;

use super::text;
use crate::refusal::Refusal;

/// The plans that wait.
pub(super) struct Noted {
    /// Their places.
    pub plans: BTreeSet<PlanAt>,
    /// How many are new.
    pub new: u32,
}

/// Makes a question of each plan that waits, the newest of each issue.
pub(super) async fn note_plans(home: &Home) -> Result<Noted, Refusal> {
    let (store, now) = (&home.store, home.clock.now());
    let mut noted = Noted {
        plans: BTreeSet::new(),
        new: 0,
    };
    for repo in home.fleet.repos.values() {
        for waits in waiting_plans(home, repo).await? {
            // One whose planner still ends is no question yet.
            if waits.row.ended_at.is_none() {
                continue;
            }
            let (issue, plan) = (waits.issue, (waits.row.id, waits.n));
            noted.plans.insert(plan);
            if store.approval_of(plan).await?.is_some() {
                continue;
            }
            let new = NewApproval {
                id: text::new_id(),
                plan: Some(plan),
                repo: repo.name.clone(),
                issue: Some(issue),
                body: text::of_plan(&waits.effects),
                hash: text::hash_of_plan(&repo.name, issue, &waits.effects),
                asked_at: now,
                expires_at: waits.until.min(now + within(home)),
            };
            noted.new += u32::from(store.ask_approval(&new).await?);
        }
    }
    Ok(noted)
}

/// How long a question may be answered.
fn within(home: &Home) -> TimeDelta {
    let chats = home.fleet.sinks.iter().filter_map(|sink| sink.chat());
    let within = chats.map(|chat| chat.approve_within).min();
    let within = within.and_then(|within| TimeDelta::from_std(within).ok());
    within.unwrap_or(TimeDelta::days(1))
}
