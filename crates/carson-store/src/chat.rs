//! What a chat said, whom it may believe, and what it is not to be told.

use carson_core::Event;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use sqlx::query;

use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::events::write_event;
use crate::row::row;

/// A chat sends again what was not acknowledged for minutes, not for days.
pub(crate) const REMEMBERED: TimeDelta = TimeDelta::days(1);
/// Names that are kept at most, whatever floods in.
pub(crate) const REMEMBERED_MOST: i64 = 10_000;
/// Forgets names: those before an instant, and all but so many.
pub(crate) const FORGET: &str = "DELETE FROM chat_heard WHERE at < $1 \
     OR at < (SELECT at FROM chat_heard ORDER BY at DESC LIMIT 1 OFFSET $2)";

row! {
    /// Somebody who was trusted by one whom the settings trust.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct TrustRow {
        /// Their id in the chat.
        pub id: String,
        /// Who trusts them.
        pub added_by: String,
        /// Since when.
        pub at: DateTime<Utc>,
    }
}

row! {
    /// A sink that is told alerts alone for a while.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct QuietRow {
        /// Its name.
        pub sink: String,
        /// Until when.
        pub until: DateTime<Utc>,
        /// Who wants it so.
        pub set_by: String,
    }
}

impl Store {
    /// Whether something of this name is heard for the first time. Names of long ago are forgotten.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn hear(&self, id: &str, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "INSERT INTO chat_heard (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        )
        .bind(self.outside(id).into_owned())
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        on!(self, |pool| query(FORGET)
            .bind(now - REMEMBERED)
            .bind(REMEMBERED_MOST)
            .execute(pool)
            .await?
            .rows_affected());
        Ok(rows == 1)
    }

    /// Those who were trusted in the chat.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn chat_trusted(&self) -> Result<Vec<TrustRow>, StoreError> {
        Ok(on!(self, |pool| sqlx::query_as(
            "SELECT id, added_by, at FROM chat_trust ORDER BY id"
        )
        .fetch_all(pool)
        .await?))
    }

    /// Trusts somebody, and writes the event down that says so; `false` where they were trusted already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn chat_trust(
        &self,
        id: &str,
        by: &str,
        event: &Event,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(transaction!(self, |tx| {
            let rows = query(
                "INSERT INTO chat_trust (id, added_by, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            )
            .bind(id)
            .bind(by)
            .bind(now)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if rows == 1 {
                write_event!(self, &mut *tx, event, (None, None), now);
            }
            rows == 1
        }))
    }

    /// Trusts them no more, and writes that down; `false` where they were not trusted.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn chat_untrust(
        &self,
        id: &str,
        event: &Event,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(transaction!(self, |tx| {
            let rows = query("DELETE FROM chat_trust WHERE id = $1")
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            if rows == 1 {
                write_event!(self, &mut *tx, event, (None, None), now);
            }
            rows == 1
        }))
    }

    /// Until then a sink is told alerts alone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_quiet(
        &self,
        sink: &str,
        until: DateTime<Utc>,
        by: &str,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO quiet (sink, until, set_by) VALUES ($1, $2, $3) ON CONFLICT (sink) \
             DO UPDATE SET until = excluded.until, set_by = excluded.set_by"
        )
        .bind(sink)
        .bind(until)
        .bind(by)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The sinks that were told to be quiet, those too whose time is over.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn quiets(&self) -> Result<Vec<QuietRow>, StoreError> {
        Ok(on!(self, |pool| sqlx::query_as(
            "SELECT sink, until, set_by FROM quiet ORDER BY sink"
        )
        .fetch_all(pool)
        .await?))
    }

    /// Somebody has seen an alert.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn see_alert(
        &self,
        alert: &str,
        by: &str,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "INSERT INTO alert_seen (alert, seen_by, at) VALUES ($1, $2, $3) ON CONFLICT (alert) \
             DO UPDATE SET seen_by = excluded.seen_by, at = excluded.at"
        )
        .bind(self.outside(alert).into_owned())
        .bind(by)
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// When somebody saw this alert last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn alert_seen(&self, alert: &str) -> Result<Option<DateTime<Utc>>, StoreError> {
        let row: Option<(DateTime<Utc>,)> = on!(self, |pool| sqlx::query_as(
            "SELECT at FROM alert_seen WHERE alert = $1"
        )
        .bind(self.outside(alert).into_owned())
        .fetch_optional(pool)
        .await?);
        Ok(row.map(|(at,)| at))
    }
}
