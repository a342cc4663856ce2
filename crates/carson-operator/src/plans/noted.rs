//! Each plan that waits becomes a question.

use std::collections::BTreeSet;

use carson_core::Effect;
use carson_home::Home;
use carson_store::{EffectState, NewApproval, PlanAt};
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
        let mut issues = BTreeSet::new();
        let rows = store.owing_in(&repo.name).await?.into_iter().rev();
        for firing in rows.filter(|row| row.ended_at.is_some()) {
            let effects = store.effects(firing.id).await?;
            for one in effects.iter().filter(|one| one.state == EffectState::Owed) {
                let Effect::AwaitApproval { issue, until, .. } = one.effect else {
                    continue;
                };
                if !issues.insert(issue) {
                    continue;
                }
                let plan = (firing.id, one.n);
                noted.plans.insert(plan);
                if store.approval_of(plan).await?.is_some() {
                    continue;
                }
                let new = NewApproval {
                    id: text::new_id(),
                    plan: Some(plan),
                    repo: repo.name.clone(),
                    issue: Some(issue),
                    body: text::of_plan(&effects),
                    hash: text::hash_of_plan(&repo.name, issue, &effects),
                    asked_at: now,
                    expires_at: until.min(now + within(home)),
                };
                noted.new += u32::from(store.ask_approval(&new).await?);
            }
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
