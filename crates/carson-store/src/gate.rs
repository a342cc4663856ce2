//! What admission looks at, read in one go.

use carson_core::admission::{Block, Gate, Pause};
use carson_core::{HostName, Outcome, RepoName, RoleName};
use chrono::{DateTime, Utc};

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::small;
use crate::stops::{PauseRow, PauseScope};

impl Store {
    /// Reads pauses, blocks, breaker and counts. The day is the role's, given by its ends; the
    /// caller fills in what the settings say.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn gate(
        &self,
        role: &RoleName,
        repos: &[RepoName],
        host: &HostName,
        day_from: DateTime<Utc>,
        day_to: DateTime<Utc>,
    ) -> Result<Gate, StoreError> {
        let counts: (i64, i64, i64) = on!(self, |pool| sqlx::query_as(
            "SELECT \
             (SELECT COUNT(*) FROM firing WHERE role = $1 AND claimed_at >= $2 \
              AND claimed_at < $3 AND (outcome IS NULL OR outcome NOT IN ($4, $5))), \
             (SELECT COUNT(*) FROM firing WHERE role = $1 AND ended_at IS NULL), \
             (SELECT COUNT(*) FROM firing WHERE host = $6 AND ended_at IS NULL)"
        )
        .bind(role.as_str())
        .bind(day_from)
        .bind(day_to)
        .bind(Outcome::Skipped.as_str())
        .bind(Outcome::RateLimited.as_str())
        .bind(host.as_str())
        .fetch_one(pool)
        .await?);
        Ok(Gate {
            pause: self.pause_of(role, repos).await?,
            blocks: self.account_stops().await?,
            breaker: self.breaker(role).await?,
            fired_today: small(counts.0),
            running: counts.1 > 0,
            running_here: small(counts.2),
            ..Gate::default()
        })
    }

    async fn pause_of(
        &self,
        role: &RoleName,
        repos: &[RepoName],
    ) -> Result<Option<Pause>, StoreError> {
        let pauses = self.pauses().await?;
        let all_repos_paused = |scope: &PauseScope| match scope {
            PauseScope::Repo(repo) => repos.len() == 1 && repos.contains(repo),
            _ => false,
        };
        let mut pauses: Vec<_> = pauses
            .into_iter()
            .filter(|row| {
                row.scope == PauseScope::Fleet
                    || row.scope == PauseScope::Role(role.clone())
                    || all_repos_paused(&row.scope)
            })
            .collect();
        // One that has run out must not hide one that stands: the longest is the one to look at.
        pauses.sort_by_key(|row| (row.until.is_none(), row.until));
        Ok(pauses.pop().map(|row| Pause {
            what: row.scope.to_string(),
            reason: row.reason,
            until: row.until,
        }))
    }

    /// What keeps firings from accounts: the block flags, and the operator's pauses.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn account_stops(&self) -> Result<Vec<Block>, StoreError> {
        let mut stops = self.blocks().await?;
        for row in self.pauses().await? {
            if let PauseScope::Account(account) = row.scope {
                stops.push(Block {
                    account,
                    until: row.until,
                    reason: format!("paused: {}", row.reason),
                });
            }
        }
        Ok(stops)
    }

    /// The repositories that are paused at `now`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn paused_repos(&self, now: DateTime<Utc>) -> Result<Vec<RepoName>, StoreError> {
        let standing = |row: PauseRow| match row.scope {
            PauseScope::Repo(repo) if row.until.is_none_or(|until| now < until) => Some(repo),
            _ => None,
        };
        Ok(self
            .pauses()
            .await?
            .into_iter()
            .filter_map(standing)
            .collect())
    }
}
