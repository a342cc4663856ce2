//! Reading firings.

use carson_core::admission::Spent;
use carson_core::{FiringId, HostName, Outcome, RoleName};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query_as, query_scalar};
use uuid::Uuid;

use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::firing::{BlockedCall, Firing, Raw, StageRow, parsed, select_firing, small};
use crate::usage::spent;

/// Which firings to list; the newest come first.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Only of this role.
    pub role: Option<RoleName>,
    /// Only claimed since then.
    pub since: Option<DateTime<Utc>>,
    /// Quiet rows too.
    pub skipped: bool,
    /// Only those that ended so.
    pub outcome: Option<Outcome>,
    /// At most so many.
    pub limit: u32,
}

/// What an abbreviated id names.
#[derive(Clone, Debug)]
pub enum Found {
    /// One firing.
    One(Box<Firing>),
    /// None.
    Nothing,
    /// Several.
    Many(Vec<FiringId>),
}

impl Store {
    /// A firing by its id.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firing(&self, id: FiringId) -> Result<Option<Firing>, StoreError> {
        let row: Option<Raw> = on!(self, |pool| query_as(select_firing!(
            "FROM firing WHERE id = $1"
        ))
        .bind(id.uuid())
        .fetch_optional(pool)
        .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// How the sessions of a role's newest firing before this one on its host were confined.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sandbox_before(&self, firing: &Firing) -> Result<Option<Value>, StoreError> {
        let text: Option<String> = on!(self, |pool| query_scalar(
            "SELECT sandbox FROM firing WHERE role = $1 AND host = $2 AND id <> $3 \
             AND sandbox IS NOT NULL ORDER BY seq DESC LIMIT 1"
        )
        .bind(firing.role.as_str())
        .bind(firing.host.as_str())
        .bind(firing.id.uuid())
        .fetch_optional(pool)
        .await?);
        // What cannot be read is compared with nothing.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// A firing by its id, or by any part of it that no other has; hyphens do not count.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_firing(&self, text: &str) -> Result<Found, StoreError> {
        if let Ok(id) = text.parse::<FiringId>() {
            let found = self.firing(id).await?;
            return Ok(found.map_or(Found::Nothing, |row| Found::One(Box::new(row))));
        }
        let digits = text.replace('-', "").to_lowercase();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Found::Nothing);
        }
        // What tables show comes first: those digits may stand within another id too.
        let mut found = match digits.len() {
            8 => self.ids_that_show_as(&digits).await?,
            _ => Vec::new(),
        };
        if found.is_empty() {
            found = self.ids_with(&digits).await?;
        }
        match found[..] {
            [] => Ok(Found::Nothing),
            [(id,)] => {
                let row = self.firing(id.into()).await?;
                Ok(row.map_or(Found::Nothing, |row| Found::One(Box::new(row))))
            }
            _ => Ok(Found::Many(
                found.into_iter().map(|(id,)| id.into()).collect(),
            )),
        }
    }

    /// The newest with these digits anywhere.
    async fn ids_with(&self, digits: &str) -> Result<Vec<(Uuid,)>, StoreError> {
        Ok(match &self.db {
            Db::Sqlite(pool) => {
                query_as(
                    "SELECT id FROM firing WHERE instr(lower(hex(id)), $1) > 0 \
                     ORDER BY seq DESC LIMIT 10",
                )
                .bind(digits)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as(
                    "SELECT id FROM firing WHERE position($1 in replace(id::text, '-', '')) > 0 \
                     ORDER BY seq DESC LIMIT 10",
                )
                .bind(digits)
                .fetch_all(pool)
                .await?
            ),
        })
    }

    /// By an index on the digits; each database has its own words for them.
    async fn ids_that_show_as(&self, digits: &str) -> Result<Vec<(Uuid,)>, StoreError> {
        Ok(match &self.db {
            Db::Sqlite(pool) => {
                query_as("SELECT id FROM firing WHERE lower(substr(hex(id), 25)) = $1")
                    .bind(digits)
                    .fetch_all(pool)
                    .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as("SELECT id FROM firing WHERE right(id::text, 8) = $1")
                    .bind(digits)
                    .fetch_all(pool)
                    .await?
            ),
        })
    }

    /// Firings by a filter.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings(&self, filter: &Filter) -> Result<Vec<Firing>, StoreError> {
        // Two statements, because one that covers both cases finds its rows by no index.
        let statement = match filter.role {
            Some(_) => {
                select_firing!(
                    "FROM firing WHERE role = $1 AND claimed_at >= COALESCE($2, claimed_at) \
                     AND ($3 OR outcome IS NULL OR outcome <> 'SKIPPED' OR sessions > 0) \
                     AND ($5 IS NULL OR outcome = $5) ORDER BY seq DESC LIMIT $4"
                )
            }
            None => {
                select_firing!(
                    "FROM firing WHERE $1 IS NULL AND claimed_at >= COALESCE($2, claimed_at) \
                     AND ($3 OR outcome IS NULL OR outcome <> 'SKIPPED' OR sessions > 0) \
                     AND ($5 IS NULL OR outcome = $5) ORDER BY seq DESC LIMIT $4"
                )
            }
        };
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(statement)
                .bind(filter.role.as_ref().map(RoleName::as_str))
                .bind(filter.since)
                .bind(filter.skipped)
                .bind(i64::from(filter.limit))
                .bind(filter.outcome.map(Outcome::as_str))
                .fetch_all(pool)
                .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Firings that began since then and ended as more than a look, the newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn busy_since(
        &self,
        since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(select_firing!(
                "FROM firing WHERE claimed_at >= $1 AND outcome <> 'SILENT' \
                 AND (outcome <> 'SKIPPED' OR sessions > 0) ORDER BY seq DESC LIMIT $2"
            ))
            .bind(since)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Firings that ended after this one, in the order of their ends; without skipped slots, but with those that
    /// somebody stopped.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ended_after(
        &self,
        (at, id): (DateTime<Utc>, FiringId),
        limit: u32,
    ) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(select_firing!(
                "FROM firing WHERE ended_at >= $1 AND (ended_at > $1 OR id > $2) \
                 AND (outcome <> 'SKIPPED' OR sessions > 0) ORDER BY ended_at, id LIMIT $3"
            ))
            .bind(at)
            .bind(id.uuid())
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// How many firings that began since then found nothing, how many slots were skipped, and the money of all
    /// firings since then as far as it is known.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn quiet_since(&self, since: DateTime<Utc>) -> Result<(u32, u32, Spent), StoreError> {
        let (silent, skipped, usd, estimated): (i64, i64, Option<f64>, Option<i64>) =
            on!(self, |pool| query_as(
                "SELECT COALESCE(SUM(CASE WHEN outcome = 'SILENT' THEN 1 ELSE 0 END), 0), \
             COALESCE(SUM(CASE WHEN outcome = 'SKIPPED' AND sessions = 0 THEN 1 ELSE 0 END), 0), \
             SUM(cost_usd), MAX(cost_estimated) FROM firing WHERE claimed_at >= $1"
            )
            .bind(since)
            .fetch_one(pool)
            .await?);
        Ok((small(silent), small(skipped), spent(usd, estimated)))
    }

    /// The newest row of each of these roles, in one query.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn newest_of(&self, roles: &[&RoleName]) -> Result<Vec<Firing>, StoreError> {
        let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
        let names = serde_json::json!(names).to_string();
        let rows: Vec<Raw> = match &self.db {
            Db::Sqlite(pool) => {
                query_as(select_firing!(
                    "FROM json_each($1) r JOIN firing ON firing.seq = \
                     (SELECT MAX(other.seq) FROM firing other WHERE other.role = r.value)"
                ))
                .bind(names)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as(select_firing!(
                    "FROM json_array_elements_text($1::json) r(value) JOIN firing ON firing.seq = \
                         (SELECT MAX(other.seq) FROM firing other WHERE other.role = r.value)"
                ))
                .bind(&names)
                .fetch_all(pool)
                .await?
            ),
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Firings that have not ended, on one host or on all. One that another host took over runs on none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_firings(&self, host: Option<&HostName>) -> Result<Vec<Firing>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(select_firing!(
                "FROM firing WHERE ended_at IS NULL AND host = COALESCE($1, host) \
                 AND ($1 IS NULL OR COALESCE(carrier, host) = host) ORDER BY seq"
            ))
            .bind(host.map(HostName::as_str))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The slot that a role claimed last, in the order of the claims: after the clock was stepped
    /// back it may be smaller than older ones.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_slot(&self, role: &RoleName) -> Result<Option<DateTime<Utc>>, StoreError> {
        let row: Option<(DateTime<Utc>,)> = on!(self, |pool| {
            query_as(
            "SELECT slot FROM firing WHERE role = $1 AND slot IS NOT NULL ORDER BY seq DESC LIMIT 1"
        )
        .bind(role.as_str())
        .fetch_optional(pool)
        .await?
        });
        Ok(row.map(|(slot,)| slot))
    }

    /// The stages that a firing went through.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stages(&self, id: FiringId) -> Result<Vec<StageRow>, StoreError> {
        type Raw = (String, DateTime<Utc>, Option<DateTime<Utc>>);
        let rows: Vec<Raw> = on!(self, |pool| query_as(
            "SELECT name, started_at, ended_at FROM stage WHERE firing = $1 ORDER BY seq"
        )
        .bind(id.uuid())
        .fetch_all(pool)
        .await?);
        rows.into_iter()
            .map(|(name, started_at, ended_at)| {
                Ok(StageRow {
                    name: parsed("stage", &name)?,
                    started_at,
                    ended_at,
                })
            })
            .collect()
    }

    /// The tool calls of a firing that were stopped.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn blocked_calls(&self, id: FiringId) -> Result<Vec<BlockedCall>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT rule, tool, call, at FROM blocked_call WHERE firing = $1 ORDER BY seq"
        )
        .bind(id.uuid())
        .fetch_all(pool)
        .await?))
    }
}
