//! Claiming: by a row that can exist only once.

use carson_core::admission::SkipReason;
use carson_core::cadence::CLOCK_MENDED;
use carson_core::work::WorkKey;
use carson_core::{AccountName, FiringId, HostName, Outcome, RepoName, RoleName};
use chrono::{DateTime, TimeDelta, Utc};
use sqlx::query;
use uuid::Uuid;

use crate::as_firing::{AsFiring, fenced};
use crate::db::{Store, on, transaction};
use crate::error::StoreError;

/// How often a slot may be fired again because the clock was stepped back behind it.
const STEPS_BACK: i64 = 9;

/// A firing that somebody wants to begin.
#[derive(Clone, Debug)]
pub struct NewFiring {
    /// Its id.
    pub id: FiringId,
    /// Its role.
    pub role: RoleName,
    /// Its slot; `None` when an operator asks for it.
    pub slot: Option<DateTime<Utc>>,
    /// The host that will run it.
    pub host: HostName,
    /// The account that admission chose.
    pub account: Option<AccountName>,
    /// When it must have ended.
    pub deadline_at: DateTime<Utc>,
    /// Now.
    pub claimed_at: DateTime<Utc>,
    /// Slots before it that it stands for.
    pub missed: u32,
    /// The only repository it may work in.
    pub repo: Option<RepoName>,
    /// The only piece of work it may take.
    pub work: Option<WorkKey>,
    /// When the breaker opened that this firing probes: it is claimed only while that holds.
    pub probes: Option<DateTime<Utc>>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The row is there, and it is ours.
    Won,
    /// The slot has a row.
    SlotTaken,
    /// A firing of the role, or on the work, lives.
    RoleBusy(Option<FiringId>),
}

/// A slot that ends before anything fired.
#[derive(Clone, Debug)]
pub struct NewSkip {
    /// Its role.
    pub role: RoleName,
    /// Its slot.
    pub slot: DateTime<Utc>,
    /// Slots before it that it stands for.
    pub missed: u32,
    /// Why.
    pub reason: SkipReason,
}

/// The row of a claim; nothing where there is one already.
macro_rules! insertion {
    ($new:expr, $slot:expr) => {
        query(
            "INSERT INTO firing (id, role, slot, host, account, deadline_at, claimed_at, missed, \
             repo, work) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 \
             WHERE $11 IS NULL OR EXISTS \
             (SELECT 1 FROM breaker WHERE breaker.role = $2 AND breaker.opened_at = $11) \
             ON CONFLICT DO NOTHING",
        )
        .bind($new.id.uuid())
        .bind($new.role.as_str())
        .bind($slot)
        .bind($new.host.as_str())
        .bind($new.account.as_ref().map(AccountName::as_str))
        .bind($new.deadline_at)
        .bind($new.claimed_at)
        .bind(i64::from($new.missed))
        .bind($new.repo.as_ref().map(RepoName::as_str))
        .bind($new.work.map(|work| work.to_string()))
        .bind($new.probes)
    };
}

impl Store {
    /// Claims a slot (or, without one, the right to run the role now).
    ///
    /// A slot whose row was claimed at a time that lies well in the *future* belongs to a clock
    /// that was stepped back since. So that a role is not silent until that time has come round again,
    /// the slot is then claimed a microsecond later.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn claim_firing(&self, new: &NewFiring) -> Result<Claim, StoreError> {
        for step in 0..=STEPS_BACK {
            let slot = new.slot.map(|slot| slot + TimeDelta::microseconds(step));
            if self.insert(new, slot).await? {
                return Ok(Claim::Won);
            }
            let Some(slot) = slot else { break };
            match self.slot_claimed_at(&new.role, slot).await? {
                None => break,
                Some(at) if at > new.claimed_at + CLOCK_MENDED => {}
                Some(_) => return Ok(Claim::SlotTaken),
            }
        }
        Ok(Claim::RoleBusy(self.live_of(&new.role).await?))
    }

    /// Claims many slots with one durable write. What each became, in their order; whoever is not
    /// [`Claim::Won`] here lost to somebody else.
    ///
    /// # Errors
    /// When the database does not answer; then none is claimed.
    pub async fn claim_firings(&self, all: &[NewFiring]) -> Result<Vec<Claim>, StoreError> {
        if let [one] = all {
            return Ok(vec![self.claim_firing(one).await?]);
        }
        let won: Vec<bool> = transaction!(self, |tx| {
            let mut won = vec![false; all.len()];
            for index in in_order(all, |new| &new.role) {
                let insertion = insertion!(all[index], all[index].slot);
                won[index] = insertion.execute(&mut *tx).await?.rows_affected() == 1;
            }
            won
        });
        let mut claims = Vec::with_capacity(all.len());
        for (new, won) in all.iter().zip(won) {
            // Alone it is told apart what stands in the way, and a clock that was stepped back.
            claims.push(if won {
                Claim::Won
            } else {
                self.claim_firing(new).await?
            });
        }
        Ok(claims)
    }

    async fn insert(
        &self,
        new: &NewFiring,
        slot: Option<DateTime<Utc>>,
    ) -> Result<bool, StoreError> {
        let done = on!(self, |pool| {
            insertion!(new, slot).execute(pool).await?.rows_affected()
        });
        Ok(done == 1)
    }

    async fn slot_claimed_at(
        &self,
        role: &RoleName,
        slot: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let row: Option<(DateTime<Utc>,)> = on!(self, |pool| sqlx::query_as(
            "SELECT claimed_at FROM firing WHERE role = $1 AND slot = $2"
        )
        .bind(role.as_str())
        .bind(slot)
        .fetch_optional(pool)
        .await?);
        Ok(row.map(|(at,)| at))
    }

    async fn live_of(&self, role: &RoleName) -> Result<Option<FiringId>, StoreError> {
        let row: Option<(Uuid,)> = on!(self, |pool| sqlx::query_as(
            "SELECT id FROM firing WHERE role = $1 AND ended_at IS NULL"
        )
        .bind(role.as_str())
        .fetch_optional(pool)
        .await?);
        Ok(row.map(|(id,)| id.into()))
    }

    /// Ends slots as quiet rows that say why nothing fired, all with one durable write; a slot that
    /// has a row keeps it. How many rows are new.
    ///
    /// # Errors
    /// When the database does not answer; then none is written.
    pub async fn record_skips(
        &self,
        host: &HostName,
        all: &[NewSkip],
        at: DateTime<Utc>,
    ) -> Result<u64, StoreError> {
        if all.is_empty() {
            return Ok(0);
        }
        Ok(transaction!(self, |tx| {
            let mut written = 0;
            for index in in_order(all, |skip| &skip.role) {
                let NewSkip {
                    role,
                    slot,
                    missed,
                    reason,
                } = &all[index];
                let done = query(
                    "INSERT INTO firing (id, role, slot, host, deadline_at, claimed_at, ended_at, \
                     outcome, reason, skip, missed) VALUES ($1, $2, $3, $4, $5, $5, $5, $6, $7, $8, $9) \
                     ON CONFLICT DO NOTHING",
                )
                .bind(FiringId::new().uuid())
                .bind(role.as_str())
                .bind(slot)
                .bind(host.as_str())
                .bind(at)
                .bind(Outcome::Skipped.as_str())
                .bind(self.outside(&reason.to_string()).into_owned())
                .bind(reason.kind().as_str())
                .bind(i64::from(*missed))
                .execute(&mut *tx)
                .await?;
                written += done.rows_affected();
            }
            written
        }))
    }

    /// When a role last took work in a repository.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_in(
        &self,
        role: &RoleName,
        repo: &RepoName,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let last: Option<(DateTime<Utc>,)> = on!(self, |pool| {
            sqlx::query_as(
            "SELECT claimed_at FROM firing WHERE role = $1 AND repo = $2 AND branch IS NOT NULL \
             ORDER BY claimed_at DESC LIMIT 1"
        )
        .bind(role.as_str())
        .bind(repo.as_str())
        .fetch_optional(pool)
        .await?
        });
        Ok(last.map(|(at,)| at))
    }
}

impl AsFiring<'_> {
    /// Takes a piece of work for a firing; `false` when another living firing holds it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn take_work(
        self,
        repo: &RepoName,
        work: WorkKey,
        title: &str,
    ) -> Result<bool, StoreError> {
        let done = fenced!(self, self.store, |tx| {
            query(
            "UPDATE firing SET repo = $2, work = $3, title = $4 WHERE id = $1 AND ended_at IS NULL"
        )
        .bind(self.id.uuid())
        .bind(repo.as_str())
        // No work is one that many may have at once.
        .bind((work != WorkKey::None).then(|| work.to_string()))
        .bind(self.store.outside(title).as_ref())
        .execute(&mut *tx)
        .await
        .map(|done| done.rows_affected())
        });
        match done {
            Ok(rows) => Ok(rows == 1),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Two hosts that claim the same roles in different orders would wait for each other: whoever
/// claims many goes through them by name.
fn in_order<T>(all: &[T], role: impl Fn(&T) -> &RoleName) -> Vec<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|index| role(&all[*index]));
    order
}
