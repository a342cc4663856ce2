//! What takes back what firings did, until it is done.

use carson_core::effect::LabelChange;
use carson_core::{Compensation, FiringId};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{query, query_as};

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
    /// It is done.
    Done,
    /// It is not done, because somebody had touched that, or because nothing does it.
    Left,
}

impl UndoState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Done => "done",
            Self::Left => "left",
        }
    }

    fn of(text: &str) -> Self {
        match text {
            "done" => Self::Done,
            "left" => Self::Left,
            _ => Self::Owed,
        }
    }
}

/// A compensation that is to be written down.
#[derive(Clone, Debug)]
pub struct NewUndo {
    /// What it is.
    pub what: Compensation,
    /// Where it stands.
    pub state: UndoState,
    /// Why it is left, or what was found.
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
    /// Why it is left, what was in the way, or what was found.
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
    /// Writes down what takes a firing back, in one transaction, before any of it is done. What was written
    /// before stands, and is the answer.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn plan_undo(
        &self,
        id: FiringId,
        list: &[NewUndo],
        now: DateTime<Utc>,
    ) -> Result<Vec<UndoRow>, StoreError> {
        let rows: Vec<Raw> = transaction!(self, |tx| {
            for (n, one) in (0_i64..).zip(list) {
                let said = one.said.as_deref();
                let made = query(
                    "INSERT INTO undo (firing, n, body, state, said, at) \
                     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                )
                .bind(id.uuid())
                .bind(n)
                .bind(self.outside(&to_json(&one.what)).into_owned())
                .bind(one.state.as_str())
                .bind(said.map(|said| self.outside(said).into_owned()))
                .bind(now)
                .execute(&mut *tx)
                .await?
                .rows_affected();
                // Somebody made the list before; theirs may have another length.
                if made == 0 {
                    break;
                }
            }
            query_as(SELECT).bind(id.uuid()).fetch_all(&mut *tx).await?
        });
        rows.into_iter().map(UndoRow::try_from).collect()
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

    /// Notes what became of a compensation that was owed; `false` when somebody else had done it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_undo(
        &self,
        id: FiringId,
        n: u32,
        (state, said): (UndoState, Option<&str>),
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "UPDATE undo SET state = $3, said = $4, at = $5 \
             WHERE firing = $1 AND n = $2 AND state = 'owed'"
        )
        .bind(id.uuid())
        .bind(i64::from(n))
        .bind(state.as_str())
        .bind(said.map(|said| self.outside(said).into_owned()))
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Notes which labels an effect gives and takes, before it does; what was noted first stands, because a
    /// repetition finds some of them changed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_labels(
        &self,
        id: FiringId,
        n: u32,
        labels: &LabelChange,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE effect SET applied = $3 WHERE firing = $1 AND n = $2 AND applied IS NULL"
        )
        .bind(id.uuid())
        .bind(i64::from(n))
        .bind(self.outside(&to_json(labels)).into_owned())
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }
}
