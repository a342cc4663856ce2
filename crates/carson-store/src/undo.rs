//! What takes back what firings did: what was done of it, and how the rest stood when somebody last asked.

use carson_core::effect::LabelChange;
use carson_core::{Compensation, FiringId};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

use crate::as_firing::{AsFiring, fenced};
use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::firing::{json, small, to_json};
use crate::row::row;

/// Where a compensation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UndoState {
    /// It is still to be done.
    Owed,
    /// It is not done before something else is: another firing has to end or be taken back, or another way has to
    /// be gone.
    Waits,
    /// It is done.
    Done,
    /// It is not done, because somebody had touched that, or because nothing does it.
    Left,
}

impl UndoState {
    /// Whether nothing is to come of it any more.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Left)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Waits => "waits",
            Self::Done => "done",
            Self::Left => "left",
        }
    }

    fn of(text: &str) -> Self {
        match text {
            "done" => Self::Done,
            "left" => Self::Left,
            "waits" => Self::Waits,
            _ => Self::Owed,
        }
    }
}

/// A compensation as it stands now.
#[derive(Clone, Debug)]
pub struct NewUndo {
    /// What it is.
    pub what: Compensation,
    /// Where it stands.
    pub state: UndoState,
    /// Why it is left or waits, what was in the way, or what was found.
    pub said: Option<String>,
}

/// One compensation of a firing.
#[derive(Clone, Debug, Serialize)]
pub struct UndoRow {
    /// Its place in the list.
    pub n: u32,
    /// What it is.
    #[serde(flatten)]
    pub what: Compensation,
    /// Where it stands.
    pub state: UndoState,
    /// Why it is left or waits, what was in the way, or what was found.
    pub said: Option<String>,
    /// Since when it stands there.
    pub at: DateTime<Utc>,
}

row! {
    struct Raw {
        n: i64,
        body: String,
        state: String,
        said: Option<String>,
        at: DateTime<Utc>,
    }
}

impl TryFrom<Raw> for UndoRow {
    type Error = StoreError;

    fn try_from(raw: Raw) -> Result<Self, StoreError> {
        let what = json("body", Some(&raw.body))?.ok_or(StoreError::Row {
            column: "body",
            value: String::new(),
        })?;
        Ok(Self {
            n: small(raw.n),
            what,
            state: UndoState::of(&raw.state),
            said: raw.said,
            at: raw.at,
        })
    }
}

const SELECT: &str = "SELECT n, body, state, said, at FROM undo WHERE firing = $1 ORDER BY n";

impl Store {
    /// Writes down how what takes a firing back stands now, in one transaction. What was done stays, whatever the
    /// list says of it; all else was only true when it was written, and makes room.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_undo(
        &self,
        id: FiringId,
        list: &[NewUndo],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let stands: Vec<(&NewUndo, String)> = list
            .iter()
            .map(|one| (one, self.outside(&to_json(&one.what)).into_owned()))
            .collect();
        transaction!(self, |tx| {
            let rows: Vec<Raw> = query_as(SELECT).bind(id.uuid()).fetch_all(&mut *tx).await?;
            // No number comes twice: another call may still have the row that had it.
            let next = rows.last().map_or(0, |last| last.n + 1);
            query("DELETE FROM undo WHERE firing = $1 AND state <> 'done'")
                .bind(id.uuid())
                .execute(&mut *tx)
                .await?;
            let is_done = |body: &String| {
                let mut rows = rows.iter();
                rows.any(|row| row.state == UndoState::Done.as_str() && row.body == *body)
            };
            let stands = stands.iter().filter(|(_, body)| !is_done(body));
            for (n, (one, body)) in (next..).zip(stands) {
                let said = one.said.as_deref();
                query(
                    "INSERT INTO undo (firing, n, body, state, said, at) \
                     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                )
                .bind(id.uuid())
                .bind(n)
                .bind(body)
                .bind(one.state.as_str())
                .bind(said.map(|said| self.outside(said).into_owned()))
                .bind(now)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// What takes a firing back, in order; nothing where nobody asked for that.
    ///
    /// # Errors
    /// When the database does not answer, or holds what no Carson wrote.
    pub async fn undo(&self, id: FiringId) -> Result<Vec<UndoRow>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| query_as(SELECT)
            .bind(id.uuid())
            .fetch_all(pool)
            .await?);
        rows.into_iter().map(UndoRow::try_from).collect()
    }
}

impl AsFiring<'_> {
    /// Notes which labels an effect gives and takes, before it does, or what the claim took that it ends; what was
    /// noted first stands, because a repetition finds some of them changed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_labels(self, n: u32, labels: &LabelChange) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE effect SET applied = $3 WHERE firing = $1 AND n = $2 AND applied IS NULL"
        )
        .bind(self.id.uuid())
        .bind(i64::from(n))
        .bind(self.store.outside(&to_json(labels)).into_owned())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }
}
