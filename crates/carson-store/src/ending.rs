//! How a firing's row ends.

use carson_core::breaker::{Breaker, Thresholds};
use carson_core::settle::{Facts, Settled};
use carson_core::{Outcome, SkipKind};
use chrono::{DateTime, Utc};
use sqlx::query;

use crate::as_firing::{AsFiring, fenced};
use crate::error::StoreError;
use crate::firing::to_json;
use crate::outbox::NewPost;
use crate::stops::BreakerRaw;

/// Everything that becomes true together when a firing ends.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Its outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// Which stop it was, when it was one.
    pub skip: Option<SkipKind>,
    /// When.
    pub at: DateTime<Utc>,
    /// When the role's breaker opens; `None` for a firing that tells nothing of the role.
    pub thresholds: Option<Thresholds>,
    /// What is to be told.
    pub posts: Vec<NewPost>,
}

impl AsFiring<'_> {
    /// Writes what settle said, before anything is done about it; `false` when it was written
    /// before (that one stands).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn settle_firing(
        self,
        settled: &Settled,
        sentinel: Option<&str>,
        facts: &Facts,
    ) -> Result<bool, StoreError> {
        let rows = fenced!(self, self.store, |tx| query(
            "UPDATE firing SET settled = $2, sentinel = $3, facts = $4 \
             WHERE id = $1 AND settled IS NULL AND ended_at IS NULL"
        )
        .bind(self.id.uuid())
        .bind(self.store.outside(&to_json(settled)).into_owned())
        .bind(sentinel)
        .bind(self.store.outside(&to_json(facts)).into_owned())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Ends the row, moves the role's breaker and files the posts, in one transaction; `false`
    /// when the row had ended before: then nothing of it is done again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_firing(self, ending: &Ending) -> Result<bool, StoreError> {
        let ended = fenced!(self, self.store, |tx| {
            let role: Option<(String, DateTime<Utc>)> = sqlx::query_as(
                "UPDATE firing SET ended_at = $2, outcome = $3, reason = $4, skip = $5 \
                 WHERE id = $1 AND ended_at IS NULL RETURNING role, claimed_at",
            )
            .bind(self.id.uuid())
            .bind(ending.at)
            .bind(ending.outcome.as_str())
            .bind(self.store.outside(&ending.reason).as_ref())
            .bind(ending.skip.map(SkipKind::as_str))
            .fetch_optional(&mut *tx)
            .await?;
            if let Some((role, claimed_at)) = &role {
                query("UPDATE stage SET ended_at = $2 WHERE firing = $1 AND ended_at IS NULL")
                    .bind(self.id.uuid())
                    .bind(ending.at)
                    .execute(&mut *tx)
                    .await?;
                // Changes nothing, but holds the row: a reset in between would else be undone.
                let before: Option<BreakerRaw> = sqlx::query_as(
                    "UPDATE breaker SET role = role WHERE role = $1 \
                     RETURNING role, streak, rejections, opened_at, reason",
                )
                .bind(role)
                .fetch_optional(&mut *tx)
                .await?;
                let before = before.map(BreakerRaw::breaker).unwrap_or_default();
                let after: Breaker = before.clone().after_firing(
                    *claimed_at,
                    ending.outcome,
                    &ending.reason,
                    ending.at,
                    ending.thresholds,
                );
                if after != before {
                    query(
                        "INSERT INTO breaker (role, streak, rejections, opened_at, reason) \
                         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (role) DO UPDATE SET \
                         streak = excluded.streak, rejections = excluded.rejections, \
                         opened_at = excluded.opened_at, reason = excluded.reason",
                    )
                    .bind(role)
                    .bind(i64::from(after.streak))
                    .bind(i64::from(after.rejections))
                    .bind(after.opened_at)
                    .bind(
                        after
                            .reason
                            .as_deref()
                            .map(|reason| self.store.outside(reason)),
                    )
                    .execute(&mut *tx)
                    .await?;
                }
                for post in &ending.posts {
                    query(
                        "INSERT INTO outbox (id, sink, thread, kind, body, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                    )
                    .bind(post.id)
                    .bind(&post.sink)
                    .bind(post.thread.map(|id| id.uuid()))
                    .bind(post.kind.as_str())
                    .bind(self.store.outside(&post.body.to_string()).into_owned())
                    .bind(post.created_at)
                    .execute(&mut *tx)
                    .await?;
                }
            }
            role.is_some()
        });
        Ok(ended)
    }
}
