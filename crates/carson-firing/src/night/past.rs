//! What the newest firings of roles were.

use std::collections::BTreeMap;

use carson_config::Role;
use carson_core::RoleName;
use carson_core::forecast::History;
use carson_home::Home;
use carson_store::StoreError;
use chrono::{DateTime, TimeDelta, Utc};

/// What is older says little of what comes.
const LATELY: TimeDelta = TimeDelta::days(14);
/// So many are enough for an average.
const NEWEST: u32 = 20;

/// What each role's newest firings add up to; nothing of a role that has not fired lately.
pub(super) async fn histories(
    home: &Home,
    roles: &[&Role],
    now: DateTime<Utc>,
) -> Result<BTreeMap<RoleName, History>, StoreError> {
    let names: Vec<&RoleName> = roles.iter().map(|role| &role.name).collect();
    let found = home.store.histories(&names, now - LATELY, NEWEST).await?;
    Ok(found.into_iter().collect())
}
