//! Which roles use an account, and where.

use carson_config::{Fleet, Role};
use carson_core::{AccountName, RoleName, Stage};
use serde::Serialize;

/// A stage of a role that an account may have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The role.
    pub role: RoleName,
    /// Whether that fires at all.
    pub enabled: bool,
    /// The stage.
    pub stage: Stage,
    /// The account's place among those of the stage, from 1; none where it has only a share.
    pub order: Option<usize>,
    /// Which part of the role's firings it does, from 0 to 1, where that was said.
    pub share: Option<f64>,
}

/// Every place of an account, role by role and stage by stage.
pub(super) fn places(fleet: &Fleet, account: &AccountName) -> Vec<Place> {
    let mut all = Vec::new();
    for role in fleet.roles.values().filter(|role| role.kind.has_sessions()) {
        let stages = Stage::ROUTED.into_iter();
        let stages = stages.filter(|stage| role.stages.contains(stage));
        all.extend(stages.filter_map(|stage| place(role, stage, account)));
    }
    all
}

fn place(role: &Role, stage: Stage, account: &AccountName) -> Option<Place> {
    let mut named: Vec<&AccountName> = Vec::new();
    for name in role.accounts_of(stage).into_iter().flatten() {
        if !named.contains(&name) {
            named.push(name);
        }
    }
    let order = named.iter().position(|name| *name == account);
    let shares = role.share.iter().filter(|_| !stage.judges());
    let share = shares
        .filter(|(name, _)| name == account)
        .map(|(_, share)| *share)
        .next();
    (order.is_some() || share.is_some()).then(|| Place {
        role: role.name.clone(),
        enabled: role.enabled,
        stage,
        order: order.map(|index| index + 1),
        share,
    })
}
