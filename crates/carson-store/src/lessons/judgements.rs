//! What the gate found.

use carson_core::AccountName;
use carson_core::lesson::LessonId;
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query, query_as, query_scalar};
use uuid::Uuid;

use crate::db::{Store, on};
use crate::error::StoreError;
use crate::firing::parsed;
use crate::row::row;

/// What the gate found of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// When.
    pub at: DateTime<Utc>,
    /// The run of the gate.
    pub run: Uuid,
    /// The account whose engine judged.
    pub account: Option<AccountName>,
    /// Whether a judge was asked.
    pub asked: bool,
    /// The rules that it broke.
    pub rails: Vec<String>,
    /// What its evidence is worth.
    pub structural: f64,
    /// What the judge said; nothing where it said nothing that can be read.
    pub verdict: Option<Value>,
    /// The lower of the two; nothing where one of them is missing.
    pub score: Option<f64>,
    /// What follows.
    pub decision: String,
    /// What the session cost.
    pub cost_usd: Option<f64>,
}

/// The same as a row.
pub type JudgementRow = Judgement;

row! {
    struct Raw {
        at: DateTime<Utc>,
        run: Uuid,
        account: Option<String>,
        asked: i64,
        rails: String,
        structural: f64,
        verdict: Option<String>,
        score: Option<f64>,
        decision: String,
        cost_usd: Option<f64>,
    }
}

impl TryFrom<Raw> for Judgement {
    type Error = StoreError;

    fn try_from(raw: Raw) -> Result<Self, StoreError> {
        let account = raw.account.map(|name| parsed("account", &name));
        Ok(Self {
            at: raw.at,
            run: raw.run,
            account: account.transpose()?,
            asked: raw.asked != 0,
            rails: serde_json::from_str(&raw.rails).unwrap_or_default(),
            structural: raw.structural,
            verdict: raw
                .verdict
                .and_then(|text| serde_json::from_str(&text).ok()),
            score: raw.score,
            decision: raw.decision,
            cost_usd: raw.cost_usd,
        })
    }
}

impl Store {
    /// Notes what the gate found.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_judgement(
        &self,
        lesson: LessonId,
        found: &Judgement,
    ) -> Result<(), StoreError> {
        let Some(seq) = self.lesson_seq(lesson).await? else {
            return Ok(());
        };
        let rails = serde_json::json!(found.rails).to_string();
        let verdict = found.verdict.as_ref().map(ToString::to_string);
        on!(self, |pool| {
            query(
            "INSERT INTO judgement (lesson, at, run, account, asked, rails, structural, verdict, score, decision, \
             cost_usd) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
        )
        .bind(seq)
        .bind(found.at)
        .bind(found.run)
        .bind(found.account.as_ref().map(AccountName::as_str))
        .bind(i64::from(found.asked))
        .bind(rails.as_str())
        .bind(found.structural)
        .bind(verdict.as_deref().map(|text| self.outside(text).into_owned()))
        .bind(found.score)
        .bind(found.decision.as_str())
        .bind(found.cost_usd)
        .execute(pool)
        .await?
        .rows_affected()
        });
        Ok(())
    }

    /// What the gate found of a lesson, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn judgements(&self, seq: i64) -> Result<Vec<Judgement>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| {
            query_as(
            "SELECT at, run, account, asked, rails, structural, verdict, score, decision, cost_usd FROM judgement \
             WHERE lesson = $1 ORDER BY seq"
        )
        .bind(seq)
        .fetch_all(pool)
        .await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// How many judges were asked since then.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn judges_asked_since(&self, since: DateTime<Utc>) -> Result<u64, StoreError> {
        let count: i64 = on!(self, |pool| query_scalar(
            "SELECT COUNT(*) FROM judgement WHERE at >= $1 AND asked = 1"
        )
        .bind(since)
        .fetch_one(pool)
        .await?);
        Ok(crate::firing::large(count))
    }
}
