//! Benches that pruning could not let go.
//!
//! What a session left may be too large, too deep or too broken to be looked at within bounds. Such a
//! bench stays, is listed by `carson status`, and is looked at again ever less often, so that it
//! holds nobody up; an operator who has seen enough of it discards it.

use std::collections::BTreeMap;
use std::path::Path;

use carson_core::FiringId;
use carson_store::{StoreError, Stuck};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::warn;

use crate::pruned::{Action, Plan};
use carson_home::Home;

/// The first wait before another look; each further one is twice as long.
const FIRST: TimeDelta = TimeDelta::hours(1);
/// The longest of them.
const LONGEST: TimeDelta = TimeDelta::days(1);

/// Those of this host that are known, by the names of their benches.
pub(crate) struct Known(BTreeMap<String, Stuck>);

impl Known {
    pub(crate) async fn of(home: &Home) -> Result<Self, StoreError> {
        let all = home.store.stuck(&home.fleet.host).await?;
        let named = all.into_iter().map(|one| (one.bench.clone(), one));
        Ok(Self(named.collect()))
    }

    /// Why a bench is not looked at in this pass.
    pub(crate) fn rests(&self, id: FiringId, plan: &Plan, now: DateTime<Utc>) -> Option<String> {
        let one = self.0.get(&id.to_string()).filter(|_| plan.patient)?;
        let next = one.tried_at + wait(one.tries);
        (now < next).then(|| one.why.clone())
    }

    /// Notes what became of a bench that was looked at.
    pub(crate) async fn record_action(&self, home: &Home, id: FiringId, action: &Action) {
        let (host, name) = (&home.fleet.host, id.to_string());
        let noted = match action {
            Action::Kept(why) => {
                let now = home.clock.now();
                home.store.note_stuck(host, &name, why, now).await
            }
            Action::Removed | Action::Salvaged(_) if self.0.contains_key(&name) => {
                home.store.end_stuck(host, &name).await.map(drop)
            }
            Action::Removed | Action::Salvaged(_) => Ok(()),
        };
        if let Err(error) = noted {
            warn!(firing.id = %id, %error, "a bench that stays could not be noted");
        }
    }

    /// Forgets benches that somebody else has removed.
    pub(crate) async fn forget_gone(&self, home: &Home, benches: &Path) {
        for name in self.0.keys().filter(|name| !benches.join(name).exists()) {
            if let Err(error) = home.store.end_stuck(&home.fleet.host, name).await {
                warn!(bench = name, %error, "a bench that is gone could not be noted");
            }
        }
    }
}

fn wait(tries: i64) -> TimeDelta {
    let doubled = u32::try_from(tries.clamp(1, 8) - 1).unwrap_or(0);
    (FIRST * 2_i32.pow(doubled)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_day() {
        let hours: Vec<i64> = [1, 2, 3, 5, 6, 100]
            .map(|tries| wait(tries).num_hours())
            .into();
        assert_eq!(hours, [1, 2, 4, 16, 24, 24]);
    }
}
