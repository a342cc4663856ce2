//! Writing lessons down.

use carson_core::lesson::LessonId;
use sqlx::{query, query_scalar};

use super::rows::{Change, NewLesson};
use crate::db::{Store, transaction};
use crate::error::StoreError;

impl Store {
    /// Writes a lesson down, with its history, oldest first; `false` when it is there already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn record_lesson(
        &self,
        new: &NewLesson,
        history: &[Change],
    ) -> Result<bool, StoreError> {
        let origin = new.origin.as_ref().map(ToString::to_string);
        let origin = origin
            .as_deref()
            .map(|text| self.outside(text).into_owned());
        let body = new
            .body
            .as_deref()
            .map(|text| self.outside(text).into_owned());
        transaction!(self, |tx| {
            let seq: Option<i64> = query_scalar(
                "INSERT INTO lesson (id, recorded_at, text, body, kind, severity, scope, repo, confidence, \
                 valid_from, valid_to, source, by, firing, origin, digest, words) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
                 ON CONFLICT (id) DO NOTHING RETURNING seq",
            )
            .bind(new.id.uuid())
            .bind(new.recorded_at)
            .bind(self.outside(&new.text).into_owned())
            .bind(body.as_deref())
            .bind(new.kind.as_str())
            .bind(new.severity.as_str())
            .bind(new.scope.to_string())
            .bind(new.repo.as_ref().map(carson_core::RepoName::as_str))
            .bind(new.confidence)
            .bind(new.valid.from)
            .bind(new.valid.to)
            .bind(new.source.as_str())
            .bind(self.outside(&new.by).into_owned())
            .bind(new.firing.map(|id| id.uuid()))
            .bind(origin.as_deref())
            .bind(new.digest.as_str())
            .bind(new.words.as_str())
            .fetch_optional(&mut *tx)
            .await?;
            if let Some(seq) = seq {
                for (n, evidence) in (1_i64..).zip(&new.evidence) {
                    query("INSERT INTO lesson_evidence (lesson, n, form) VALUES ($1, $2, $3)")
                        .bind(seq)
                        .bind(n)
                        .bind(self.outside(&evidence.to_string()).into_owned())
                        .execute(&mut *tx)
                        .await?;
                }
                for (n, change) in (1_i64..).zip(history) {
                    query(
                        "INSERT INTO lesson_change (lesson, n, at, state, valid_from, valid_to, confidence, by, why, \
                         undoes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                    )
                    .bind(seq)
                    .bind(n)
                    .bind(change.at)
                    .bind(change.state.as_str())
                    .bind(change.valid.map(|valid| valid.from))
                    .bind(change.valid.and_then(|valid| valid.to))
                    .bind(change.confidence)
                    .bind(self.outside(&change.by).into_owned())
                    .bind(self.outside(&change.why).into_owned())
                    .bind(change.undoes.map(i64::from))
                    .execute(&mut *tx)
                    .await?;
                }
            }
            Ok(seq.is_some())
        })
    }

    /// Its place among all lessons.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(super) async fn lesson_seq(&self, id: LessonId) -> Result<Option<i64>, StoreError> {
        Ok(crate::db::on!(self, |pool| query_scalar(
            "SELECT seq FROM lesson WHERE id = $1"
        )
        .bind(id.uuid())
        .fetch_optional(pool)
        .await?))
    }
}
