//! Which pull requests firings opened, and what became of them.

use carson_core::RepoName;
use carson_core::pull_end::{PullEnd, REVERTED_WITHIN};
use chrono::{DateTime, Utc};
use sqlx::{query, query_as};

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{Firing, Raw, large, parsed, select_firing, signed};
use crate::row::row;

/// What became of a pull request that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullEndRow {
    /// Its repository.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// What became of it.
    pub end: PullEnd,
    /// The branch that it was for.
    pub base: String,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When it was merged or closed, where somebody noted that.
    pub ended_at: Option<DateTime<Utc>>,
    /// The last commit of it that was merged, where somebody knows.
    pub offered: Option<String>,
    /// The commit that brought it into its base, where somebody knows.
    pub landed: Option<String>,
    /// When the base was last looked through for what takes it back.
    pub looked_at: DateTime<Utc>,
}

impl PullEndRow {
    /// Whether nothing that may still happen changes what became of it.
    #[must_use]
    pub fn is_for_good(&self) -> bool {
        let until = self.ended_at.map(|at| at + REVERTED_WITHIN);
        !self.end.stands() || until.is_none_or(|until| self.looked_at > until)
    }
}

row! {
    struct EndRaw {
        repo: String,
        pull: i64,
        how: String,
        base: String,
        opened_at: DateTime<Utc>,
        ended_at: Option<DateTime<Utc>>,
        offered: Option<String>,
        landed: Option<String>,
        looked_at: DateTime<Utc>,
    }
}

impl TryFrom<EndRaw> for PullEndRow {
    type Error = StoreError;

    fn try_from(raw: EndRaw) -> Result<Self, StoreError> {
        Ok(Self {
            repo: parsed("repo", &raw.repo)?,
            number: large(raw.pull),
            end: parsed("how", &raw.how)?,
            base: raw.base,
            opened_at: raw.opened_at,
            ended_at: raw.ended_at,
            offered: raw.offered,
            landed: raw.landed,
            looked_at: raw.looked_at,
        })
    }
}

impl Store {
    /// The firings, claimed since then, that opened a pull request; the newest first. Those that went
    /// on with one of an earlier firing are not among them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_that_opened(
        &self,
        since: DateTime<Utc>,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE pr_number IS NOT NULL AND claimed_at >= $1 AND NOT EXISTS \
             (SELECT 1 FROM firing older WHERE older.repo = firing.repo \
              AND older.pr_number = firing.pr_number AND older.seq < firing.seq) \
             ORDER BY seq DESC"
        ))
        .bind(since)
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The firings whose pull request this is, oldest first: who opened it, and who went on with it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_of_pull(
        &self,
        repo: &RepoName,
        pull: u64,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE repo = $1 AND pr_number = $2 ORDER BY seq"
        ))
        .bind(repo.as_str())
        .bind(signed(pull))
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What became of a pull request, where that was noted.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pull_end(
        &self,
        repo: &RepoName,
        pull: u64,
    ) -> Result<Option<PullEndRow>, StoreError> {
        let row: Option<EndRaw> = on!(self, |pool| query_as(
            "SELECT repo, pull, how, base, opened_at, ended_at, offered, landed, looked_at \
             FROM pull_end WHERE repo = $1 AND pull = $2"
        )
        .bind(repo.as_str())
        .bind(signed(pull))
        .fetch_optional(pool)
        .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// Notes what became of a pull request; what was known of it before is written over.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_pull_end(&self, row: &PullEndRow) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO pull_end (repo, pull, how, base, opened_at, ended_at, offered, landed, \
             looked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT (repo, pull) DO UPDATE SET how = excluded.how, base = excluded.base, \
             opened_at = excluded.opened_at, ended_at = excluded.ended_at, \
             offered = excluded.offered, landed = excluded.landed, looked_at = excluded.looked_at"
        )
        .bind(row.repo.as_str())
        .bind(signed(row.number))
        .bind(row.end.as_str())
        .bind(self.outside(&row.base).as_ref())
        .bind(row.opened_at)
        .bind(row.ended_at)
        .bind(row.offered.as_deref())
        .bind(row.landed.as_deref())
        .bind(row.looked_at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }
}
