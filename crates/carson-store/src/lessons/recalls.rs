//! Which firing was told which lessons.

use carson_core::lesson::LessonId;
use carson_core::{FiringId, Outcome, RepoName, RoleName};
use chrono::{DateTime, Utc};
use sqlx::{query, query_as};
use uuid::Uuid;

use crate::as_firing::{AsFiring, fenced};
use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::{large, parsed, small};
use crate::row::row;

/// What a firing was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// The firing.
    pub firing: FiringId,
    /// When.
    pub at: DateTime<Utc>,
    /// Whether it was told nothing on purpose, to compare.
    pub off: bool,
    /// How lessons were found.
    pub mode: String,
    /// The text that stood in its prompts.
    pub block: String,
    /// The lessons, the best first.
    pub lessons: Vec<Recalled>,
}

/// A lesson that was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// Which.
    pub lesson: LessonId,
    /// How well it matched.
    pub score: f64,
    /// What it was told as: `instruction`, `hint` or `demoted`.
    pub canon: String,
}

/// A firing that had a recall, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldFiring {
    /// The firing.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// Its repository.
    pub repo: Option<RepoName>,
    /// Whether it was told nothing on purpose.
    pub off: bool,
    /// How it ended; nothing while it runs.
    pub outcome: Option<Outcome>,
    /// Turns of its sessions.
    pub turns: u32,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// Its pull request.
    pub pull: Option<u64>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Attempts that it took.
    pub attempts: u32,
    /// How often a review of its plan or its diff found something to mend.
    pub findings: u32,
}

row! {
    struct ToldRaw {
        id: Uuid,
        role: String,
        repo: Option<String>,
        off: i64,
        outcome: Option<String>,
        turns: i64,
        cost_usd: Option<f64>,
        pr_number: Option<i64>,
        ended_at: Option<DateTime<Utc>>,
        attempts: i64,
        findings: i64,
    }
}

impl TryFrom<ToldRaw> for ToldFiring {
    type Error = StoreError;

    fn try_from(raw: ToldRaw) -> Result<Self, StoreError> {
        let repo = raw.repo.map(|name| parsed("repo", &name));
        let outcome = raw.outcome.map(|word| parsed("outcome", &word));
        Ok(Self {
            firing: raw.id.into(),
            role: parsed("role", &raw.role)?,
            repo: repo.transpose()?,
            off: raw.off != 0,
            outcome: outcome.transpose()?,
            turns: small(raw.turns),
            cost_usd: raw.cost_usd,
            pull: raw.pr_number.map(large),
            ended_at: raw.ended_at,
            attempts: small(raw.attempts),
            findings: small(raw.findings),
        })
    }
}

impl Store {
    /// What a firing was told.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recall_of(&self, firing: FiringId) -> Result<Option<Recall>, StoreError> {
        let row: Option<(DateTime<Utc>, i64, String, String)> = on!(self, |pool| query_as(
            "SELECT at, off, mode, block FROM recall WHERE firing = $1"
        )
        .bind(firing.uuid())
        .fetch_optional(pool)
        .await?);
        let Some((at, off, mode, block)) = row else {
            return Ok(None);
        };
        let lessons: Vec<(Uuid, f64, String)> = on!(self, |pool| query_as(
            "SELECT l.id, r.score, r.canon FROM recalled r JOIN lesson l ON l.seq = r.lesson \
             WHERE r.firing = $1 ORDER BY r.n"
        )
        .bind(firing.uuid())
        .fetch_all(pool)
        .await?);
        let recalled = |(lesson, score, canon): (Uuid, f64, String)| Recalled {
            lesson: lesson.into(),
            score,
            canon,
        };
        Ok(Some(Recall {
            firing,
            at,
            off: off != 0,
            mode,
            block,
            lessons: lessons.into_iter().map(recalled).collect(),
        }))
    }

    /// The firings that were told a lesson, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_told(&self, seq: i64, limit: u32) -> Result<Vec<ToldFiring>, StoreError> {
        let rows: Vec<ToldRaw> = on!(self, |pool| {
            query_as(
            "SELECT f.id, f.role, f.repo, r.off, f.outcome, f.turns, f.cost_usd, f.pr_number, f.ended_at, f.attempts, \
             (SELECT COUNT(*) FROM event e WHERE e.firing = f.id AND e.kind = 'review.found') AS findings \
             FROM recalled d JOIN recall r ON r.firing = d.firing JOIN firing f ON f.id = d.firing \
             WHERE d.lesson = $1 ORDER BY f.seq DESC LIMIT $2"
        )
        .bind(seq)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The firings since then that were told something, or nothing on purpose; newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn firings_with_recall(
        &self,
        since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<ToldFiring>, StoreError> {
        let rows: Vec<ToldRaw> = on!(self, |pool| {
            query_as(
            "SELECT f.id, f.role, f.repo, r.off, f.outcome, f.turns, f.cost_usd, f.pr_number, f.ended_at, f.attempts, \
             (SELECT COUNT(*) FROM event e WHERE e.firing = f.id AND e.kind = 'review.found') AS findings \
             FROM recall r JOIN firing f ON f.id = r.firing WHERE r.at >= $1 ORDER BY r.at DESC LIMIT $2"
        )
        .bind(since)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

impl AsFiring<'_> {
    /// Notes what a firing is told; what was noted before stands.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_recall(self, recall: &Recall) -> Result<(), StoreError> {
        let mut seqs = Vec::new();
        for one in &recall.lessons {
            seqs.push(self.store.lesson_seq(one.lesson).await?);
        }
        fenced!(self, self.store, |tx| {
            let rows = query(
                "INSERT INTO recall (firing, at, off, mode, block) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (firing) DO NOTHING",
            )
            .bind(self.id.uuid())
            .bind(recall.at)
            .bind(i64::from(recall.off))
            .bind(recall.mode.as_str())
            .bind(self.store.outside(&recall.block).into_owned())
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if rows == 1 {
                for ((n, one), seq) in (1_i64..).zip(&recall.lessons).zip(&seqs) {
                    let Some(seq) = seq else { continue };
                    query("INSERT INTO recalled (firing, n, lesson, score, canon) VALUES ($1, $2, $3, $4, $5)")
                        .bind(self.id.uuid())
                        .bind(n)
                        .bind(*seq)
                        .bind(one.score)
                        .bind(one.canon.as_str())
                        .execute(&mut *tx)
                        .await?;
                }
            }
        });
        Ok(())
    }
}
