//! What metrics are read off, gathered at one time.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_config::{Fleet, Role};
use carson_core::RoleName;
use carson_firing::queue;
use carson_home::Home;
use carson_store::{EndedCount, LastedCount, StoreError, UsedBy};
use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::timeout;

use crate::refusal::Refusal;
use crate::status::{Seen, Status};
use crate::verb::Ask;

/// What is not in the settings, or not any more.
const OTHER: &str = "other";
/// How long a forge on this machine may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// What was claimed a moment ahead of its slot counts, too.
const AHEAD: TimeDelta = TimeDelta::days(1);

/// What is so.
pub(super) struct Facts {
    pub fleet: std::sync::Arc<Fleet>,
    pub store: &'static str,
    pub seen: Seen,
    pub ended: Vec<EndedCount>,
    pub lasted: Vec<LastedCount>,
    pub used: Vec<UsedBy>,
    pub last_slots: BTreeMap<RoleName, DateTime<Utc>>,
    /// Issues that a role may take, of those whose forge lies on this machine.
    pub ready: BTreeMap<RoleName, usize>,
    pub bytes: Option<u64>,
}

impl Facts {
    pub(super) async fn of(home: &Home, since: Option<DateTime<Utc>>) -> Result<Self, Refusal> {
        let store = &home.store;
        let seen = Status {}.answer(home).await?;
        let began = since.unwrap_or(DateTime::UNIX_EPOCH);
        Ok(Self {
            fleet: home.fleet.clone(),
            store: store.kind(),
            ended: store.ended_counts(since).await?,
            lasted: store.lasted_counts(since).await?,
            used: store.used((began, seen.now + AHEAD)).await?,
            last_slots: last_slots(home).await?,
            ready: ready(home).await,
            bytes: store.bytes().await?,
            seen,
        })
    }

    /// A role's name as a label.
    pub(super) fn role(&self, name: &str) -> String {
        bounded(self.fleet.roles.keys(), name)
    }

    /// An account's name as a label.
    pub(super) fn account(&self, name: &str) -> String {
        bounded(self.fleet.accounts.keys(), name)
    }

    /// A sink's name as a label.
    pub(super) fn sink(&self, name: &str) -> String {
        bounded(self.fleet.sinks.iter().map(|sink| sink.name()), name)
    }
}

/// A name of the settings; any other one is the same label.
fn bounded(known: impl Iterator<Item: ToString>, name: &str) -> String {
    let mut known = known.map(|one| one.to_string());
    known
        .find(|one| one == name)
        .unwrap_or_else(|| OTHER.to_owned())
}

async fn last_slots(home: &Home) -> Result<BTreeMap<RoleName, DateTime<Utc>>, StoreError> {
    let mut slots = BTreeMap::new();
    for role in home.fleet.roles.keys() {
        if let Some(slot) = home.store.last_slot(role).await? {
            slots.insert(role.clone(), slot);
        }
    }
    Ok(slots)
}

async fn ready(home: &Home) -> BTreeMap<RoleName, usize> {
    let mut ready = BTreeMap::new();
    for role in home.fleet.roles.values() {
        if let Some(issues) = ready_for(home, role).await {
            ready.insert(role.name.clone(), issues);
        }
    }
    ready
}

/// How many issues a role may take; nothing where that cannot be said without asking another machine.
async fn ready_for(home: &Home, role: &Role) -> Option<usize> {
    role.work.label()?;
    let mut issues = 0;
    for repo in &role.repos {
        let repo = home.fleet.repos.get(repo)?;
        if !repo.forge.is_here() {
            return None;
        }
        let forge = home.forge(repo).await.ok()?;
        let looked = timeout(PATIENCE, queue::look(home, role, repo, &forge)).await;
        issues += looked.ok()?.ok()?.ready.len();
    }
    Some(issues)
}
