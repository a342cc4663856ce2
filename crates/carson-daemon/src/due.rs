//! Which roles are due, from nothing but the clock and the last slots.

use std::collections::BTreeMap;

use carson_config::{Fleet, Role};
use carson_core::cadence::{CLOCK_MENDED, Due};
use carson_core::{Clock, RoleName};
use carson_store::{Store, StoreError};
use chrono::{DateTime, Utc};

/// The last slot of each role, and since when a role without one exists.
///
/// The store is the truth; this is what the truth was when it was last asked, so that a pass costs
/// no query for roles that are not due. A slot that another host took meanwhile is noticed by the
/// claim.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    last: BTreeMap<RoleName, DateTime<Utc>>,
    since: BTreeMap<RoleName, DateTime<Utc>>,
    newest_look: Option<DateTime<Utc>>,
}

impl Ledger {
    /// Learns of the roles of a fleet; what is known of them stays.
    pub(crate) async fn learn(
        &mut self,
        fleet: &Fleet,
        store: &Store,
        clock: &Clock,
    ) -> Result<(), StoreError> {
        let now = clock.now();
        for name in fleet.roles.keys() {
            if !self.since.contains_key(name) {
                self.since.insert(name.clone(), now);
                // One that lies ahead was claimed by a clock that has been set back since.
                let last = store.last_slot(name).await?;
                if let Some(slot) = last.filter(|slot| *slot <= now + CLOCK_MENDED) {
                    self.last.insert(name.clone(), slot);
                }
            }
        }
        Ok(())
    }

    /// The roles that are due now. The daemon looks a moment ahead of the clock, always the same one.
    pub(crate) fn due<'f>(&mut self, fleet: &'f Fleet, now: DateTime<Utc>) -> Vec<(&'f Role, Due)> {
        self.mind_the_clock(now);
        let mut due: Vec<(&Role, Due)> = fleet
            .roles
            .values()
            .filter(|role| role.enabled && fleet.runs(role))
            .filter_map(|role| {
                Some((
                    role,
                    role.cadence.due(self.reference(&role.name, now), now)?,
                ))
            })
            .collect();
        due.sort_by_key(|(_, due)| due.slot);
        due
    }

    /// A clock that was stepped back makes the slots that lie ahead of it worthless as a reference:
    /// then a role's time begins anew. A clock that was mended by a moment does not.
    fn mind_the_clock(&mut self, now: DateTime<Utc>) {
        let newest = self.newest_look.max(Some(now));
        if newest > Some(now + CLOCK_MENDED) {
            self.since.values_mut().for_each(|since| *since = now);
            self.last.retain(|_, slot| *slot <= now + CLOCK_MENDED);
            self.newest_look = Some(now);
        } else {
            self.newest_look = newest;
        }
        for since in self.since.values_mut() {
            *since = (*since).min(now);
        }
    }

    fn reference(&self, role: &RoleName, now: DateTime<Utc>) -> DateTime<Utc> {
        let since = self.since.get(role).copied().unwrap_or(now);
        match self.last.get(role) {
            Some(slot) if *slot <= now + CLOCK_MENDED => *slot,
            _ => since,
        }
    }

    /// The slot has a row now, whoever wrote it.
    pub(crate) fn taken(&mut self, role: &RoleName, slot: DateTime<Utc>) {
        self.last.insert(role.clone(), slot);
    }

    /// When the next slot of any role becomes due.
    pub(crate) fn next(fleet: &Fleet, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let roles = fleet.roles.values();
        let enabled = roles.filter(|role| role.enabled && fleet.runs(role));
        enabled
            .filter_map(|role| role.cadence.next_after(now))
            .min()
    }
}

#[cfg(test)]
mod tests;
