//! Spans of time: what many firings were, in few rows.

use carson_core::forecast::History;
use carson_core::work::WorkKey;
use carson_core::{FiringId, Outcome, RepoName, RoleName, Stage};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::query_as;
use uuid::Uuid;

use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::firing::{Firing, Raw, large, maybe, parsed, select_firing, small};
use crate::row::row;

/// From one instant up to another.
type Span = (DateTime<Utc>, DateTime<Utc>);

/// A firing as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its id.
    pub id: FiringId,
    /// Its role.
    pub role: RoleName,
    /// The repository it works in.
    pub repo: Option<RepoName>,
    /// The piece of work it holds.
    pub work: Option<WorkKey>,
    /// The title of that work.
    pub title: Option<String>,
    /// When it was claimed.
    pub claimed_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The stage it is in, or was in last.
    pub stage: Option<Stage>,
    /// Its outcome, once it ended.
    pub outcome: Option<Outcome>,
}

/// Firings of a role that found nothing, and slots of it that were skipped, put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quiet {
    /// The role.
    pub role: RoleName,
    /// How many found nothing.
    pub silent: u32,
    /// How many slots were skipped.
    pub skipped: u32,
    /// When the first was claimed.
    pub first: DateTime<Utc>,
    /// When the last was.
    pub last: DateTime<Utc>,
}

row! {
    struct DrawnRaw {
        id: Uuid,
        role: String,
        repo: Option<String>,
        work: Option<String>,
        title: Option<String>,
        claimed_at: DateTime<Utc>,
        ended_at: Option<DateTime<Utc>>,
        stage: Option<String>,
        outcome: Option<String>,
    }
}

row! {
    struct QuietRaw {
        role: String,
        silent: i64,
        skipped: i64,
        first: Option<DateTime<Utc>>,
        last: Option<DateTime<Utc>>,
    }
}

row! {
    struct HistoryRaw {
        role: String,
        firings: i64,
        known: i64,
        cost_usd: Option<f64>,
        estimated: Option<i64>,
        tokens: Option<i64>,
        ran: Option<i64>,
    }
}

/// Those of a list of roles, newest first within each, at most so many of each: $1 is the list, $2 and $3 the span, $4
/// whether quiet ones count, $5 how many. Each database has its own way to ask for each of a list.
macro_rules! drawn {
    ($pool:expr, $from:literal, $to:literal, $roles:expr, $span:expr, $quiet:expr, $each:expr) => {
        query_as(concat!(
            "SELECT firing.id, firing.role, firing.repo, firing.work, firing.title, firing.claimed_at, \
             firing.ended_at, firing.stage, firing.outcome ",
            $from,
            "SELECT other.seq FROM firing other WHERE other.role = r.value \
             AND other.claimed_at >= $2 AND other.claimed_at < $3 \
             AND ($4 OR other.outcome IS NULL OR other.outcome NOT IN ('SILENT', 'SKIPPED')) \
             ORDER BY other.claimed_at DESC LIMIT $5",
            $to,
            " ORDER BY firing.role, firing.claimed_at DESC"
        ))
        .bind($roles)
        .bind($span.0)
        .bind($span.1)
        .bind($quiet)
        .bind(i64::from($each))
        .fetch_all($pool)
        .await?
    };
}

/// The newest firings of each role that ended by themselves, added up. What met a wall says nothing of what one costs
/// that does not; one without a session cost nothing.
macro_rules! history {
    ($pool:expr, $from:literal, $to:literal, $seconds:literal, $roles:expr, $since:expr, $newest:expr) => {
        query_as(concat!(
            "SELECT firing.role, COUNT(*) AS firings, \
             COUNT(CASE WHEN firing.sessions = 0 THEN 0.0 ELSE firing.cost_usd END) AS known, \
             SUM(CASE WHEN firing.sessions = 0 THEN 0.0 ELSE firing.cost_usd END) AS cost_usd, \
             MAX(CASE WHEN firing.sessions > 0 AND firing.cost_usd IS NOT NULL \
             THEN firing.cost_estimated END) AS estimated, \
             CAST(SUM(firing.tokens_in + firing.tokens_out) AS BIGINT) AS tokens, \
             CAST(ROUND(SUM(CASE WHEN firing.ended_at > firing.claimed_at THEN ",
            $seconds,
            " ELSE 0 END)) AS BIGINT) AS ran ",
            $from,
            "SELECT other.seq FROM firing other WHERE other.role = r.value \
             AND other.claimed_at >= $2 AND (other.outcome IS NULL OR other.outcome <> 'SKIPPED') \
             ORDER BY other.claimed_at DESC LIMIT $3",
            $to,
            " WHERE firing.ended_at IS NOT NULL AND firing.outcome NOT IN ($4, $5) \
             GROUP BY firing.role"
        ))
        .bind($roles)
        .bind($since)
        .bind(i64::from($newest))
        .bind(Outcome::RateLimited.as_str())
        .bind(Outcome::Auth.as_str())
        .fetch_all($pool)
        .await?
    };
}

fn list(roles: &[&RoleName]) -> String {
    let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
    serde_json::json!(names).to_string()
}

impl Store {
    /// The firings of some roles that were claimed in a span, each role's newest first, at most so many of each; with
    /// those that found nothing and the skipped slots, or without.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn drawn(
        &self,
        roles: &[&RoleName],
        span: Span,
        with_quiet: bool,
        each: u32,
    ) -> Result<Vec<Drawn>, StoreError> {
        let roles = list(roles);
        let rows: Vec<DrawnRaw> = match &self.db {
            Db::Sqlite(pool) => drawn!(
                pool,
                "FROM json_each($1) r JOIN firing ON firing.seq IN (",
                ")",
                roles,
                span,
                with_quiet,
                each
            ),
            Db::Postgres(pool) => patiently!(
                self,
                drawn!(
                    pool,
                    "FROM json_array_elements_text($1::json) r(value) CROSS JOIN LATERAL (",
                    ") newest JOIN firing ON firing.seq = newest.seq",
                    &roles,
                    span,
                    with_quiet,
                    each
                )
            ),
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What was quiet in a span, role by role.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn quiet(&self, roles: &[&RoleName], span: Span) -> Result<Vec<Quiet>, StoreError> {
        macro_rules! asked {
            ($pool:expr, $list:literal) => {
                query_as(concat!(
                    "SELECT role, SUM(CASE WHEN outcome = 'SILENT' THEN 1 ELSE 0 END) AS silent, \
                     SUM(CASE WHEN outcome = 'SKIPPED' THEN 1 ELSE 0 END) AS skipped, \
                     MIN(CASE WHEN outcome IN ('SILENT', 'SKIPPED') THEN claimed_at END) AS first, \
                     MAX(CASE WHEN outcome IN ('SILENT', 'SKIPPED') THEN claimed_at END) AS last \
                     FROM firing WHERE role IN (SELECT ",
                    $list,
                    ") AND claimed_at >= $2 AND claimed_at < $3 GROUP BY role"
                ))
                .bind(list(roles))
                .bind(span.0)
                .bind(span.1)
                .fetch_all($pool)
                .await?
            };
        }
        let rows: Vec<QuietRaw> = match &self.db {
            Db::Sqlite(pool) => asked!(pool, "value FROM json_each($1)"),
            Db::Postgres(pool) => {
                patiently!(self, asked!(pool, "json_array_elements_text($1::json)"))
            }
        };
        let quiet = |raw: QuietRaw| {
            let (first, last) = raw.first.zip(raw.last)?;
            Some(parsed("role", &raw.role).map(|role| Quiet {
                role,
                silent: small(raw.silent),
                skipped: small(raw.skipped),
                first,
                last,
            }))
        };
        rows.into_iter().filter_map(quiet).collect()
    }

    /// Whether more firings of some roles than so many were claimed in a span.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn are_more(
        &self,
        roles: &[&RoleName],
        span: Span,
        most: u32,
    ) -> Result<bool, StoreError> {
        macro_rules! asked {
            ($pool:expr, $list:literal) => {
                query_as(concat!(
                    "SELECT COUNT(*) FROM (SELECT 1 FROM firing WHERE role IN (SELECT ",
                    $list,
                    ") AND claimed_at >= $2 AND claimed_at < $3 LIMIT $4) AS first_ones"
                ))
                .bind(list(roles))
                .bind(span.0)
                .bind(span.1)
                .bind(i64::from(most) + 1)
                .fetch_one($pool)
                .await?
            };
        }
        let (found,): (i64,) = match &self.db {
            Db::Sqlite(pool) => asked!(pool, "value FROM json_each($1)"),
            Db::Postgres(pool) => {
                patiently!(self, asked!(pool, "json_array_elements_text($1::json)"))
            }
        };
        Ok(found > i64::from(most))
    }

    /// How many firings that were claimed in a span ended so, for each outcome that there is.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ends_between(&self, span: Span) -> Result<Vec<(Outcome, u32)>, StoreError> {
        macro_rules! asked {
            ($pool:expr, $list:literal) => {
                query_as(concat!(
                    "SELECT o.value, (SELECT COUNT(*) FROM firing WHERE outcome = o.value \
                     AND claimed_at >= $2 AND claimed_at < $3) FROM ",
                    $list
                ))
                .bind(serde_json::json!(Outcome::ALL.map(Outcome::as_str)).to_string())
                .bind(span.0)
                .bind(span.1)
                .fetch_all($pool)
                .await?
            };
        }
        let rows: Vec<(String, i64)> = match &self.db {
            Db::Sqlite(pool) => asked!(pool, "json_each($1) o"),
            Db::Postgres(pool) => {
                patiently!(
                    self,
                    asked!(pool, "json_array_elements_text($1::json) o(value)")
                )
            }
        };
        let ended = rows.into_iter().filter(|(_, count)| *count > 0);
        ended
            .map(|(outcome, count)| Ok((parsed("outcome", &outcome)?, small(count))))
            .collect()
    }

    /// What the newest firings of each role were since then that ended by themselves, at most so many of each.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn histories(
        &self,
        roles: &[&RoleName],
        since: DateTime<Utc>,
        newest: u32,
    ) -> Result<Vec<(RoleName, History)>, StoreError> {
        let roles = list(roles);
        let rows: Vec<HistoryRaw> = match &self.db {
            Db::Sqlite(pool) => history!(
                pool,
                "FROM json_each($1) r JOIN firing ON firing.seq IN (",
                ")",
                "(julianday(firing.ended_at) - julianday(firing.claimed_at)) * 86400.0",
                roles,
                since,
                newest
            ),
            Db::Postgres(pool) => patiently!(
                self,
                history!(
                    pool,
                    "FROM json_array_elements_text($1::json) r(value) CROSS JOIN LATERAL (",
                    ") newest JOIN firing ON firing.seq = newest.seq",
                    "EXTRACT(EPOCH FROM firing.ended_at - firing.claimed_at)",
                    &roles,
                    since,
                    newest
                )
            ),
        };
        let history = |raw: HistoryRaw| {
            let history = History {
                firings: small(raw.firings),
                known: small(raw.known),
                cost_usd: raw.cost_usd.unwrap_or(0.0),
                estimated: raw.estimated.unwrap_or(0) != 0,
                tokens: large(raw.tokens.unwrap_or(0)),
                ran_seconds: large(raw.ran.unwrap_or(0)),
            };
            Ok((parsed("role", &raw.role)?, history))
        };
        rows.into_iter().map(history).collect()
    }

    /// The newest firings of a role or of all, skipped slots among them; only those that were claimed before one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_before(
        &self,
        role: Option<&RoleName>,
        before: Option<FiringId>,
        limit: u32,
    ) -> Result<Vec<Firing>, StoreError> {
        // Two statements, because one that covers both cases finds its rows by no index.
        let statement = match role {
            Some(_) => select_firing!(
                "FROM firing WHERE role = $1 AND seq < COALESCE( \
                 (SELECT seq FROM firing WHERE id = $2), 9223372036854775807) \
                 ORDER BY seq DESC LIMIT $3"
            ),
            None => select_firing!(
                "FROM firing WHERE $1 IS NULL AND seq < COALESCE( \
                 (SELECT seq FROM firing WHERE id = $2), 9223372036854775807) \
                 ORDER BY seq DESC LIMIT $3"
            ),
        };
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(statement)
                .bind(role.map(RoleName::as_str))
                .bind(before.map(|id| id.uuid()))
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

impl TryFrom<DrawnRaw> for Drawn {
    type Error = StoreError;

    fn try_from(raw: DrawnRaw) -> Result<Self, StoreError> {
        Ok(Self {
            id: raw.id.into(),
            role: parsed("role", &raw.role)?,
            repo: maybe("repo", raw.repo.as_deref())?,
            work: maybe("work", raw.work.as_deref())?,
            title: raw.title,
            claimed_at: raw.claimed_at,
            ended_at: raw.ended_at,
            stage: maybe("stage", raw.stage.as_deref())?,
            outcome: maybe("outcome", raw.outcome.as_deref())?,
        })
    }
}
