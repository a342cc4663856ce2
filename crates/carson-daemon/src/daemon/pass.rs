//! One look at the slots: what is due is admitted, skipped, or left waiting.

use std::time::Instant;

use carson_config::Role;
use carson_core::FiringId;
use carson_core::admission::SkipReason;
use carson_core::cadence::Due;
use carson_firing::Claimed;
use carson_firing::admit::{Wish, claim_all};
use carson_firing::dispatch::{Begin, start_firing};
use carson_store::{NewSkip, StoreError};
use chrono::{DateTime, Utc};
use tracing::{debug, error, info, warn};

use super::{Daemon, LEAD};
use crate::jobs;

/// What is due, in the order of the slots.
struct Slots<'f> {
    wishes: Vec<(&'f Role, Wish)>,
    dues: Vec<Due>,
    /// Those that nobody wants any more.
    late: Vec<NewSkip>,
}

impl<'f> Slots<'f> {
    fn of(due: Vec<(&'f Role, Due)>) -> Self {
        let mut slots = Self {
            wishes: Vec::with_capacity(due.len()),
            dues: Vec::with_capacity(due.len()),
            late: Vec::new(),
        };
        for (role, due) in due {
            if due.too_late {
                slots.late.push(NewSkip {
                    role: role.name.clone(),
                    slot: due.slot,
                    missed: due.missed,
                    reason: SkipReason::too_late(),
                });
                continue;
            }
            let wish = Wish {
                slot: Some(due.slot),
                at: Some(due.at),
                missed: due.missed,
                ..Wish::default()
            };
            slots.wishes.push((role, wish));
            slots.dues.push(due);
        }
        slots
    }
}

impl Daemon {
    /// Everything that is due, or will be in a moment, is admitted, skipped, or left waiting. The
    /// number of queries and of durable writes does not grow with the number of roles.
    pub(super) async fn pass(&mut self) -> Result<(), StoreError> {
        let (fleet, began) = (self.home.fleet.clone(), Instant::now());
        let now = self.home.clock.now();
        let due = self.ledger.due(&fleet, now + LEAD);
        if due.is_empty() || self.is_stopped().await {
            return Ok(());
        }
        jobs::takes_rows_again(&self.home, &self.health).await?;
        let Slots { wishes, dues, late } = Slots::of(due);
        let store = &self.home.store;
        store.record_skips(&fleet.host, &late, now).await?;
        for skip in &late {
            self.ledger.taken(&skip.role, skip.slot);
        }
        if wishes.is_empty() {
            return Ok(());
        }
        let claimed = claim_all(&self.home, &wishes).await?;
        if let Some(over) = self.health.well() {
            info!(over, "it is over; firings go on");
        }
        log_admission(&claimed, began);
        let mut won = Vec::new();
        for (((role, _), claimed), due) in wishes.iter().zip(claimed).zip(dues) {
            match claimed {
                Claimed::Won(id) => won.push((due.at, id)),
                Claimed::Skipped(reason) => info!(role = %role.name, %reason, "slot skipped"),
                Claimed::Taken => {}
                Claimed::Wait(why) => {
                    debug!(role = %role.name, why, "slot waits");
                    continue;
                }
            }
            self.ledger.taken(&role.name, due.slot);
        }
        won.sort();
        for (at, id) in won {
            self.fire(id, at);
        }
        Ok(())
    }

    /// Starts the process of a claimed firing that is due at an instant.
    fn fire(&self, id: FiringId, at: DateTime<Utc>) {
        let begin = Begin {
            settings: Some(&self.settings),
            at: Some(at),
        };
        let child = match start_firing(&self.home, id, &begin) {
            Ok(child) => child,
            Err(error) => {
                error!(firing.id = %id, %error, "the firing could not be started");
                // Its row has no process: recovery ends it.
                return;
            }
        };
        let late = self.home.clock.now() - at;
        info!(
            firing.id = %id,
            firing.pid = child.id.pid,
            late_us = late.num_microseconds().unwrap_or(i64::MAX),
            "firing process started"
        );
        let (look, recover) = (self.look.clone(), self.recover.clone());
        tokio::spawn(async move {
            match child.wait().await {
                Ok(exit) => debug!(firing.id = %id, ?exit, "firing process ended"),
                Err(error) => warn!(firing.id = %id, %error, "the firing could not be waited for"),
            }
            // A firing that ended well has ended its row; one that did not is concluded now.
            recover.notify_one();
            look.notify_one();
        });
    }
}

/// How long it took to decide about all of them.
fn log_admission(claimed: &[Claimed], began: Instant) {
    let count = |is: fn(&Claimed) -> bool| claimed.iter().filter(|one| is(one)).count();
    debug!(
        due = claimed.len(),
        won = count(|one| matches!(one, Claimed::Won(_))),
        skipped = count(|one| matches!(one, Claimed::Skipped(_))),
        waiting = count(|one| matches!(one, Claimed::Wait(_))),
        took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        "slots admitted"
    );
}
