//! What people are asked to say yes or no to.
//!
//! A row is bound to the hash of one exact text, and is decided once: whoever comes second, too late, or with
//! another hash changes nothing, on one host or many, because the decision is one statement.

use carson_core::{Event, FiringId, RepoName};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use sqlx::query;
use uuid::Uuid;

use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::events::write_event;
use crate::firing::{parsed, small};
use crate::row::row;

/// For how long it is tried to take the buttons off what can be answered no more.
const BUTTONS_FOR: TimeDelta = TimeDelta::days(1);

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// Nobody was needed any more: it was decided elsewhere, or is gone.
    Gone,
}

impl Decision {
    /// Its word, as the rows have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Gone => "gone",
        }
    }

    /// What no Carson wrote approves nothing.
    fn of(text: &str) -> Self {
        match text {
            "approved" => Self::Approved,
            "rejected" => Self::Rejected,
            _ => Self::Gone,
        }
    }
}

/// A plan's place: the firing, and the place of what waits among its effects.
pub type PlanAt = (FiringId, u32);

/// Something to be approved.
#[derive(Clone, Debug)]
pub struct NewApproval {
    /// Its id, which nobody can guess.
    pub id: String,
    /// The plan; none of what was asked for in the chat.
    pub plan: Option<PlanAt>,
    /// Its repository.
    pub repo: RepoName,
    /// The issue that a plan is for.
    pub issue: Option<u64>,
    /// What people read: of a plan its text, of an issue that is to be its title.
    pub body: String,
    /// Names exactly that.
    pub hash: String,
    /// When.
    pub asked_at: DateTime<Utc>,
    /// Until when it may be decided.
    pub expires_at: DateTime<Utc>,
}

/// The same with what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalRow {
    /// Its id.
    #[serde(skip)]
    pub id: String,
    /// The plan; none of what was asked for in the chat.
    #[serde(skip)]
    pub plan: Option<PlanAt>,
    /// Its repository.
    pub repo: RepoName,
    /// The issue that a plan is for.
    pub issue: Option<u64>,
    /// What people read.
    pub body: String,
    /// Names exactly that.
    pub hash: String,
    /// When it was asked.
    pub asked_at: DateTime<Utc>,
    /// Until when it may be decided.
    pub expires_at: DateTime<Utc>,
    /// Its post in the chat: channel, and name there.
    #[serde(skip)]
    pub post: Option<(String, String)>,
    /// How many posts with the beginning of its text the chat has.
    #[serde(skip)]
    pub told: u32,
    /// The first of them, where it began a thread of its own.
    #[serde(skip)]
    pub head: Option<String>,
    /// How often in a row the chat did not take it, or kept its buttons.
    pub failures: u32,
    /// When the chat was asked last.
    pub tried_at: Option<DateTime<Utc>>,
    /// What was in the way.
    pub error: Option<String>,
    /// What a person said.
    pub decision: Option<Decision>,
    /// Who, and by which way.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<DateTime<Utc>>,
}

row! {
    struct Raw {
        id: String,
        firing: Option<Uuid>,
        n: Option<i64>,
        repo: String,
        issue: Option<i64>,
        body: String,
        hash: String,
        asked_at: DateTime<Utc>,
        expires_at: DateTime<Utc>,
        channel: Option<String>,
        ts: Option<String>,
        told: i64,
        head: Option<String>,
        failures: i64,
        tried_at: Option<DateTime<Utc>>,
        error: Option<String>,
        decision: Option<String>,
        decided_by: Option<String>,
        decided_at: Option<DateTime<Utc>>,
    }
}

impl TryFrom<Raw> for ApprovalRow {
    type Error = StoreError;

    fn try_from(raw: Raw) -> Result<Self, StoreError> {
        Ok(Self {
            plan: raw.firing.zip(raw.n).map(|(id, n)| (id.into(), small(n))),
            repo: parsed("repo", &raw.repo)?,
            issue: raw.issue.and_then(|issue| u64::try_from(issue).ok()),
            post: raw.channel.zip(raw.ts),
            told: small(raw.told),
            head: raw.head,
            failures: small(raw.failures),
            decision: raw.decision.as_deref().map(Decision::of),
            id: raw.id,
            body: raw.body,
            hash: raw.hash,
            asked_at: raw.asked_at,
            expires_at: raw.expires_at,
            tried_at: raw.tried_at,
            error: raw.error,
            decided_by: raw.decided_by,
            decided_at: raw.decided_at,
        })
    }
}

macro_rules! select_approval {
    ($rest:literal) => {
        concat!(
            "SELECT id, firing, n, repo, issue, body, hash, asked_at, expires_at, channel, ts, told, \
             head, failures, tried_at, error, decision, decided_by, decided_at FROM approval ",
            $rest
        )
    };
}

fn one(raw: Option<Raw>) -> Result<Option<ApprovalRow>, StoreError> {
    raw.map(TryInto::try_into).transpose()
}

impl Store {
    /// Writes down that something is to be approved; `false` where the same plan is asked for already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ask_approval(&self, new: &NewApproval) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| {
            query(
            "INSERT INTO approval (id, firing, n, repo, issue, body, hash, asked_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING"
        )
        .bind(&new.id)
        .bind(new.plan.map(|(firing, _)| firing.uuid()))
        .bind(new.plan.map(|(_, n)| i64::from(n)))
        .bind(new.repo.as_str())
        .bind(new.issue.and_then(|issue| i64::try_from(issue).ok()))
        .bind(self.outside(&new.body).into_owned())
        .bind(&new.hash)
        .bind(new.asked_at)
        .bind(new.expires_at)
        .execute(pool)
        .await?
        .rows_affected()
        });
        Ok(rows == 1)
    }

    /// What was asked under this id.
    ///
    /// # Errors
    /// When the database does not answer, or holds what no Carson wrote.
    pub async fn approval(&self, id: &str) -> Result<Option<ApprovalRow>, StoreError> {
        let raw = on!(self, |pool| sqlx::query_as(select_approval!(
            "WHERE id = $1"
        ))
        .bind(id)
        .fetch_optional(pool)
        .await?);
        one(raw)
    }

    /// What was asked of this plan.
    ///
    /// # Errors
    /// As for [`approval`](Self::approval).
    pub async fn approval_of(&self, plan: PlanAt) -> Result<Option<ApprovalRow>, StoreError> {
        let raw = on!(self, |pool| sqlx::query_as(select_approval!(
            "WHERE firing = $1 AND n = $2"
        ))
        .bind(plan.0.uuid())
        .bind(i64::from(plan.1))
        .fetch_optional(pool)
        .await?);
        one(raw)
    }

    /// What was asked by this post of the chat.
    ///
    /// # Errors
    /// As for [`approval`](Self::approval).
    pub async fn approval_posted_as(
        &self,
        channel: &str,
        ts: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let raw = on!(self, |pool| sqlx::query_as(select_approval!(
            "WHERE channel = $1 AND ts = $2"
        ))
        .bind(channel)
        .bind(ts)
        .fetch_optional(pool)
        .await?);
        one(raw)
    }

    /// What is not carried out yet, decided or not, the oldest first.
    ///
    /// # Errors
    /// As for [`approval`](Self::approval).
    pub async fn open_approvals(&self) -> Result<Vec<ApprovalRow>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| sqlx::query_as(select_approval!(
            "WHERE done_at IS NULL ORDER BY asked_at LIMIT 500"
        ))
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What can be answered no more and has buttons still, the oldest first: decided by whichever way, gone, or
    /// expired. After a day they stay where they are.
    ///
    /// # Errors
    /// As for [`approval`](Self::approval).
    pub async fn approvals_with_buttons(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let rows: Vec<Raw> = on!(self, |pool| sqlx::query_as(select_approval!(
            "WHERE channel IS NOT NULL AND bare_at IS NULL \
             AND (decision IS NOT NULL OR expires_at <= $1) \
             AND COALESCE(decided_at, expires_at) > $2 ORDER BY asked_at LIMIT 100"
        ))
        .bind(now)
        .bind(now - BUTTONS_FOR)
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Its buttons are off.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn approval_is_bare(&self, id: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE approval SET bare_at = $2, failures = 0, error = NULL WHERE id = $1"
        )
        .bind(id)
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// A person decides, and the event that says so stands with it or not at all; `false` where it was decided
    /// before, has expired, or is not what this hash names.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decide_approval(
        &self,
        id: &str,
        hash: &str,
        (decision, by): (Decision, &str),
        (event, firing): (&Event, Option<FiringId>),
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(transaction!(self, |tx| {
            let rows = query(
                "UPDATE approval SET decision = $3, decided_by = $4, decided_at = $5, failures = 0 \
                 WHERE id = $1 AND hash = $2 AND decision IS NULL AND expires_at > $5",
            )
            .bind(id)
            .bind(hash)
            .bind(decision.as_str())
            .bind(self.outside(by).into_owned())
            .bind(now)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if rows == 1 {
                write_event!(self, &mut *tx, event, (None, firing), now);
            }
            rows == 1
        }))
    }

    /// What was decided is carried out; what nobody decided is gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn close_approval(&self, id: &str, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let rows = on!(self, |pool| query(
            "UPDATE approval SET done_at = $2, decision = COALESCE(decision, 'gone'), \
             decided_at = COALESCE(decided_at, $2) WHERE id = $1 AND done_at IS NULL"
        )
        .bind(id)
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// The chat has the question, under this name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn approval_asked(
        &self,
        id: &str,
        (channel, ts): (&str, &str),
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE approval SET channel = $2, ts = $3, failures = 0, error = NULL, tried_at = $4 \
             WHERE id = $1"
        )
        .bind(id)
        .bind(channel)
        .bind(ts)
        .bind(now)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The chat has so many posts of its text that come before the question; the first of them began a thread, or it
    /// had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn approval_told(
        &self,
        id: &str,
        told: u32,
        head: Option<&str>,
    ) -> Result<(), StoreError> {
        on!(self, |pool| query(
            "UPDATE approval SET told = $2, head = $3 WHERE id = $1"
        )
        .bind(id)
        .bind(i64::from(told))
        .bind(head)
        .execute(pool)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The chat did not take the question, or kept its buttons; how often in a row now.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn approval_not_asked(
        &self,
        id: &str,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<u32, StoreError> {
        let count: Option<(i64,)> = on!(self, |pool| sqlx::query_as(
            "UPDATE approval SET failures = failures + 1, error = $2, tried_at = $3 \
             WHERE id = $1 RETURNING failures"
        )
        .bind(id)
        .bind(self.outside(error).into_owned())
        .bind(now)
        .fetch_optional(pool)
        .await?);
        Ok(count.map_or(0, |(count,)| small(count)))
    }
}
