//! The trail of decisions, and the hosts that make them.

use carson_core::{Event, FiringId, HostName, RoleName};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::query;
use uuid::Uuid;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::signed;
use crate::row::row;

/// One decision.
#[derive(Clone, Debug, Serialize)]
pub struct EventRow {
    /// When.
    pub at: DateTime<Utc>,
    /// What kind, dotted: `breaker.reset`.
    pub kind: String,
    /// About which role.
    pub role: Option<String>,
    /// About which firing.
    pub firing: Option<FiringId>,
    /// The rest.
    pub data: Value,
}

row! {
    /// A box that runs a supervisor.
    #[derive(Clone, Debug, Serialize)]
    pub struct HostRow {
        /// Its name.
        pub name: String,
        /// The daemon's process.
        pub pid: i64,
        /// That process's start time.
        pub pid_start: i64,
        /// The daemon's version.
        pub version: String,
        /// When it was last heard of.
        pub beat_at: DateTime<Utc>,
        /// Whether its lease stands, by the clock of the database; nothing where hosts hold none.
        pub holds: Option<bool>,
        /// Until when that stands, or stood.
        pub lease_until: Option<DateTime<Utc>>,
        /// Since when the others take it for dead.
        pub lapsed_at: Option<DateTime<Utc>>,
        /// How far its clock was ahead of the database's when it renewed its lease last, in seconds.
        pub ahead_s: Option<i64>,
        /// When this was read, by the clock of the database.
        #[serde(skip)]
        pub read_at: DateTime<Utc>,
        /// Since when nothing new is to fire there.
        pub drained_at: Option<DateTime<Utc>>,
        /// Its labels, between spaces.
        pub labels: String,
    }
}

type Raw = (DateTime<Utc>, String, Option<String>, Option<Uuid>, String);

fn event((at, kind, role, firing, data): Raw) -> EventRow {
    EventRow {
        at,
        kind,
        role,
        firing: firing.map(Into::into),
        data: serde_json::from_str(&data).unwrap_or(Value::Null),
    }
}

/// Writes an event down by this executor: alone, or in the transaction of what it tells.
macro_rules! write_event {
    ($store:expr, $executor:expr, $event:expr, ($role:expr, $firing:expr), $at:expr) => {{
        let (event, role): (&carson_core::Event, Option<&carson_core::RoleName>) = ($event, $role);
        let firing: Option<carson_core::FiringId> = $firing;
        sqlx::query("INSERT INTO event (at, kind, role, firing, data) VALUES ($1, $2, $3, $4, $5)")
            .bind($at)
            .bind(event.kind())
            .bind(role.map(carson_core::RoleName::as_str))
            .bind(firing.map(|id| id.uuid()))
            .bind(
                $store
                    .outside(&serde_json::json!(event).to_string())
                    .into_owned(),
            )
            .execute($executor)
            .await?;
    }};
}
pub(crate) use write_event;

impl Store {
    /// Writes down what happened, and about which role or firing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn event(
        &self,
        event: &Event,
        role: Option<&RoleName>,
        firing: Option<FiringId>,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| write_event!(
            self,
            pool,
            event,
            (role, firing),
            at
        ));
        Ok(())
    }

    /// The same of a firing, unless the very same was written down before and is still there; where it
    /// is to be quiet for a time, only what was written down within that counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn event_once(
        &self,
        event: &Event,
        firing: FiringId,
        at: DateTime<Utc>,
        quiet: Option<TimeDelta>,
    ) -> Result<(), StoreError> {
        let data = json!(event).to_string();
        let since = quiet.and_then(|quiet| at.checked_sub_signed(quiet));
        let since = since.unwrap_or(DateTime::UNIX_EPOCH);
        on!(self, |pool| query(
            "INSERT INTO event (at, kind, role, firing, data) \
             SELECT $1, $2, role, id, $4 FROM firing WHERE id = $3 AND NOT EXISTS \
             (SELECT 1 FROM event AS known \
             WHERE known.kind = $2 AND known.data = $4 AND known.at > $5)"
        )
        .bind(at)
        .bind(event.kind())
        .bind(firing.uuid())
        .bind(self.outside(&data).into_owned())
        .bind(since)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The newest decisions, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn events(&self, limit: u32) -> Result<Vec<EventRow>, StoreError> {
        self.events_since(DateTime::UNIX_EPOCH, None, limit).await
    }

    /// The newest decisions since then, newest first: of one kind, or of all whose kind begins with that word.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn events_since(
        &self,
        since: DateTime<Utc>,
        kind: Option<&str>,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let (kind, word) = match kind {
            Some(kind) => (kind.to_owned(), format!("{kind}.%")),
            None => ("%".to_owned(), "%".to_owned()),
        };
        let rows: Vec<Raw> = on!(self, |pool| sqlx::query_as(
            "SELECT at, kind, role, firing, data FROM event \
             WHERE at >= $1 AND (kind LIKE $2 OR kind LIKE $3) ORDER BY seq DESC LIMIT $4"
        )
        .bind(since)
        .bind(&kind)
        .bind(&word)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(event).collect())
    }

    /// The decisions about one firing, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn events_of(&self, firing: FiringId) -> Result<Vec<EventRow>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| sqlx::query_as(
            "SELECT at, kind, role, firing, data FROM event WHERE firing = $1 ORDER BY seq"
        )
        .bind(firing.uuid())
        .fetch_all(pool)
        .await?);
        Ok(rows.into_iter().map(event).collect())
    }

    /// A daemon says that it lives.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn heartbeat(
        &self,
        host: &HostName,
        pid: i32,
        pid_start: u64,
        version: &str,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO host (name, pid, pid_start, version, beat_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (name) DO UPDATE SET pid = excluded.pid, pid_start = excluded.pid_start, \
             version = excluded.version, beat_at = excluded.beat_at"
        )
        .bind(host.as_str())
        .bind(i64::from(pid))
        .bind(signed(pid_start))
        .bind(version)
        .bind(at)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The hosts that were ever heard of.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn hosts(&self) -> Result<Vec<HostRow>, StoreError> {
        Ok(on!(self, |pool| {
            sqlx::query_as(
            "SELECT name, pid, pid_start, version, beat_at, lease_until > CURRENT_TIMESTAMP AS holds, \
             lease_until, lapsed_at, ahead_s, CURRENT_TIMESTAMP AS read_at, drained_at, labels \
             FROM host ORDER BY name"
        )
        .fetch_all(pool)
        .await?
        }))
    }
}
