//! What accounts have used, what the fleet has spent, and what people refused.

use carson_core::admission::{Spent, UsageWindow};
use carson_core::work::WorkKey;
use carson_core::{AccountName, RepoName, RoleName};
use chrono::{DateTime, Utc};
use sqlx::{query, query_as, query_scalar};

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{Firing, Raw, parsed, select_firing, signed, small};
use crate::row::row;

row! {
    struct WindowRaw {
        account: String,
        name: String,
        utilization: f64,
        resets_at: Option<DateTime<Utc>>,
        seen_at: DateTime<Utc>,
    }
}

/// As a sum and the largest mark of its rows say.
pub(crate) fn spent(usd: Option<f64>, estimated: Option<i64>) -> Spent {
    Spent {
        usd: usd.unwrap_or(0.0),
        estimated: estimated.unwrap_or(0) != 0,
    }
}

impl Store {
    /// Notes how much of a usage window is used. What was seen last counts: an older note of
    /// another host never overwrites a newer one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_window(&self, window: &UsageWindow) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO usage_window (account, name, utilization, resets_at, seen_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account, name) DO UPDATE SET \
             utilization = excluded.utilization, resets_at = excluded.resets_at, \
             seen_at = excluded.seen_at WHERE usage_window.seen_at <= excluded.seen_at"
        )
        .bind(window.account.as_str())
        .bind(self.outside(&window.name).as_ref())
        .bind(window.utilization)
        .bind(window.resets_at)
        .bind(window.seen_at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// How many second tries began with an account since then.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn second_tries(
        &self,
        account: &AccountName,
        since: DateTime<Utc>,
    ) -> Result<u32, StoreError> {
        let count: i64 = on!(self, |pool| query_scalar(
            "SELECT COUNT(*) FROM firing \
             WHERE second_try IS NOT NULL AND account = $1 AND claimed_at >= $2"
        )
        .bind(account.as_str())
        .bind(since)
        .fetch_one(pool)
        .await?);
        Ok(small(count))
    }

    /// The usage windows of all accounts, standing or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn windows(&self) -> Result<Vec<UsageWindow>, StoreError> {
        let rows: Vec<WindowRaw> = on!(self, |pool| query_as(
            "SELECT account, name, utilization, resets_at, seen_at FROM usage_window \
             ORDER BY account, name"
        )
        .fetch_all(pool)
        .await?);
        let window = |raw: WindowRaw| {
            Ok(UsageWindow {
                account: parsed::<AccountName>("account", &raw.account)?,
                name: raw.name,
                utilization: raw.utilization,
                resets_at: raw.resets_at,
                seen_at: raw.seen_at,
            })
        };
        rows.into_iter().map(window).collect()
    }

    /// Money of all firings that were claimed between two instants.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn spent(&self, span: (DateTime<Utc>, DateTime<Utc>)) -> Result<Spent, StoreError> {
        let row: (Option<f64>, Option<i64>) = on!(self, |pool| query_as(
            "SELECT SUM(cost_usd), MAX(cost_estimated) FROM firing \
             WHERE cost_usd IS NOT NULL AND claimed_at >= $1 AND claimed_at < $2"
        )
        .bind(span.0)
        .bind(span.1)
        .fetch_one(pool)
        .await?);
        Ok(spent(row.0, row.1))
    }

    /// Money of a role's firings that were claimed between two instants.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn spent_by(
        &self,
        role: &RoleName,
        span: (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Spent, StoreError> {
        let row: (Option<f64>, Option<i64>) = on!(self, |pool| query_as(
            "SELECT SUM(cost_usd), MAX(cost_estimated) FROM firing \
             WHERE role = $1 AND claimed_at >= $2 AND claimed_at < $3"
        )
        .bind(role.as_str())
        .bind(span.0)
        .bind(span.1)
        .fetch_one(pool)
        .await?);
        Ok(spent(row.0, row.1))
    }

    /// The firings that took a piece of work, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_of(
        &self,
        repo: &RepoName,
        work: WorkKey,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE repo = $1 AND work = $2 AND ended_at IS NOT NULL ORDER BY seq"
        ))
        .bind(repo.as_str())
        .bind(work.to_string())
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The newest firing that opened a pull request.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firing_of_pull(
        &self,
        repo: &RepoName,
        pull: u64,
    ) -> Result<Option<Firing>, StoreError> {
        let row: Option<Raw> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE repo = $1 AND pr_number = $2 ORDER BY seq DESC LIMIT 1"
        ))
        .bind(repo.as_str())
        .bind(signed(pull))
        .fetch_optional(pool)
        .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// Remembers that people closed a pull request for this work; `false` when that is known.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remember_refusal(
        &self,
        repo: &RepoName,
        work: WorkKey,
        pull: u64,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "INSERT INTO refused_work (repo, work, pull, seen_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING"
        )
        .bind(repo.as_str())
        .bind(work.to_string())
        .bind(signed(pull))
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Whether it is remembered already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn knows_refusal(
        &self,
        repo: &RepoName,
        work: WorkKey,
        pull: u64,
    ) -> Result<bool, StoreError> {
        let known: i64 = on!(self, |pool| query_scalar(
            "SELECT COUNT(*) FROM refused_work WHERE repo = $1 AND work = $2 AND pull = $3"
        )
        .bind(repo.as_str())
        .bind(work.to_string())
        .bind(signed(pull))
        .fetch_one(pool)
        .await?);
        Ok(known > 0)
    }
}
