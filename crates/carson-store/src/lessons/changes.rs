//! What is thought of a lesson.

use carson_core::lesson::LessonId;
use sqlx::{query, query_as};

use super::rows::{Change, ChangeRaw};
use crate::db::{Store, on};
use crate::error::StoreError;

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It was written down.
    Done,
    /// Somebody else decided in the meantime.
    Overtaken,
    /// There is no such lesson.
    Gone,
}

impl Store {
    /// Adds a change to a lesson's history as its `n`th, unless that place is taken.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn change_lesson(
        &self,
        id: LessonId,
        change: &Change,
    ) -> Result<Decided, StoreError> {
        let Some(seq) = self.lesson_seq(id).await? else {
            return Ok(Decided::Gone);
        };
        let rows = on!(self, |pool| {
            query(
            "INSERT INTO lesson_change (lesson, n, at, state, valid_from, valid_to, confidence, by, why, undoes) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (lesson, n) DO NOTHING"
        )
        .bind(seq)
        .bind(i64::from(change.n))
        .bind(change.at)
        .bind(change.state.as_str())
        .bind(change.valid.map(|valid| valid.from))
        .bind(change.valid.and_then(|valid| valid.to))
        .bind(change.confidence)
        .bind(self.outside(&change.by).into_owned())
        .bind(self.outside(&change.why).into_owned())
        .bind(change.undoes.map(i64::from))
        .execute(pool)
        .await?
        .rows_affected()
        });
        Ok(if rows == 1 {
            Decided::Done
        } else {
            Decided::Overtaken
        })
    }

    /// Everything that was ever thought of a lesson, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lesson_history(&self, seq: i64) -> Result<Vec<Change>, StoreError> {
        let rows: Vec<ChangeRaw> = on!(self, |pool| query_as(
            "SELECT n, at, state, valid_from, valid_to, confidence, by, why, undoes \
             FROM lesson_change WHERE lesson = $1 ORDER BY n"
        )
        .bind(seq)
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
