//! Plans that wait for a person.

use std::collections::BTreeSet;

use carson_config::Repo;
use carson_core::Effect;
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing as Row, StoreError};
use chrono::{DateTime, Utc};

/// A plan that waits.
#[derive(Debug)]
pub struct PlanThatWaits {
    /// The firing that made it.
    pub row: Row,
    /// The place of what waits among its effects.
    pub n: u32,
    /// The issue that it is for.
    pub issue: u64,
    /// Until when it waits.
    pub until: DateTime<Utc>,
    /// All that follows from the firing.
    pub effects: Vec<EffectRow>,
}

/// The plans that wait in a repository, the newest of each issue.
///
/// # Errors
/// When the store does not answer.
pub async fn waiting_plans(home: &Home, repo: &Repo) -> Result<Vec<PlanThatWaits>, StoreError> {
    let mut plans = Vec::new();
    let mut issues = BTreeSet::new();
    for row in home.store.owing_in(&repo.name).await?.into_iter().rev() {
        let effects = home.store.effects(row.id).await?;
        let owed = effects.iter().filter(|one| one.state == EffectState::Owed);
        let waits = owed.filter_map(|one| match one.effect {
            Effect::AwaitApproval { issue, until, .. } => Some((one.n, issue, until)),
            _ => None,
        });
        for (n, issue, until) in waits.collect::<Vec<_>>() {
            if issues.insert(issue) {
                plans.push(PlanThatWaits {
                    row: row.clone(),
                    n,
                    issue,
                    until,
                    effects: effects.clone(),
                });
            }
        }
    }
    Ok(plans)
}

/// The newest firing whose plan waits on this issue, and the place of that among its effects.
///
/// # Errors
/// When the store does not answer.
pub async fn waiting_plan(
    home: &Home,
    repo: &Repo,
    issue: u64,
) -> Result<Option<(Row, u32)>, StoreError> {
    let mut plans = waiting_plans(home, repo).await?.into_iter();
    let plan = plans.find(|plan| plan.issue == issue);
    Ok(plan.map(|plan| (plan.row, plan.n)))
}
