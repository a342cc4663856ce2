//! What a firing writes while it runs.

use carson_core::{AccountName, Stage};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::query;

use crate::as_firing::{AsFiring, fenced};
use crate::error::StoreError;
use crate::firing::signed;
use crate::used::Used;

/// What the sessions add up to so far: absolute values, so writing twice changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Turns.
    pub turns: u32,
    /// Input tokens.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// Money.
    pub cost_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    /// Sessions that were tried again.
    pub retries: u32,
    /// Execute attempts.
    pub attempts: u32,
    /// CLI invocations.
    pub sessions: u32,
    /// The account in use.
    pub account: Option<AccountName>,
    /// Its engine.
    pub engine: Option<String>,
    /// The account that judged last.
    pub reviewed_by: Option<AccountName>,
    /// The same by account: each that its sessions had.
    pub used: Vec<Used>,
}

impl AsFiring<'_> {
    /// The firing's process has begun, where its number means what `pid_space` says. Only the first process gets
    /// the row; another is refused.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn start_firing(
        self,
        (pid, pid_start): (i32, u64),
        pid_space: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let rows = fenced!(self, self.store, |tx| query(
            "UPDATE firing SET pid = $2, pid_start = $3, started_at = $4, pid_space = $5 \
             WHERE id = $1 AND pid IS NULL AND ended_at IS NULL"
        )
        .bind(self.id.uuid())
        .bind(i64::from(pid))
        .bind(signed(pid_start))
        .bind(at)
        .bind(pid_space)
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(rows == 1)
    }

    /// Which prompts the firing's role has.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_prompt_version(self, version: &str) -> Result<(), StoreError> {
        fenced!(self, self.store.noting(), |tx| query(
            "UPDATE firing SET prompt_version = $2 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(version)
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The firing enters a stage; the one before it ends.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_stage(self, stage: Stage, at: DateTime<Utc>) -> Result<(), StoreError> {
        fenced!(self, self.store.noting(), |tx| {
            query("UPDATE stage SET ended_at = $2 WHERE firing = $1 AND ended_at IS NULL")
                .bind(self.id.uuid())
                .bind(at)
                .execute(&mut *tx)
                .await?;
            query("INSERT INTO stage (firing, name, started_at) VALUES ($1, $2, $3)")
                .bind(self.id.uuid())
                .bind(stage.as_str())
                .bind(at)
                .execute(&mut *tx)
                .await?;
            query("UPDATE firing SET stage = $2 WHERE id = $1 AND ended_at IS NULL")
                .bind(self.id.uuid())
                .bind(stage.as_str())
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// The firing's last stage is over. The row has ended before: this one comes after the end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_stage(self, at: DateTime<Utc>) -> Result<(), StoreError> {
        fenced!(self, self.store.noting(), |tx| query(
            "UPDATE stage SET ended_at = $2 WHERE firing = $1 AND ended_at IS NULL"
        )
        .bind(self.id.uuid())
        .bind(at)
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// Notes how the firing's sessions are confined.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_sandbox(self, level: &Value) -> Result<(), StoreError> {
        fenced!(self, self.store.noting(), |tx| query(
            "UPDATE firing SET sandbox = $2 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(level.to_string())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// Writes what the sessions add up to; `spent` says that some of it is new money, or tokens: that
    /// outlives the power.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn progress(self, so_far: &Progress, spent: bool) -> Result<(), StoreError> {
        let store = match spent {
            true => self.store.clone(),
            false => self.store.noting(),
        };
        fenced!(self, store, |tx| {
            query(
                "UPDATE firing SET turns = $2, tokens_in = $3, tokens_out = $4, cost_usd = $5, \
                 attempts = $6, sessions = $7, account = COALESCE($8, account), \
                 engine = COALESCE($9, engine), retries = $10, cost_estimated = $11, \
                 reviewed_by = COALESCE($12, reviewed_by) WHERE id = $1",
            )
            .bind(self.id.uuid())
            .bind(i64::from(so_far.turns))
            .bind(signed(so_far.tokens_in))
            .bind(signed(so_far.tokens_out))
            .bind(so_far.cost_usd)
            .bind(i64::from(so_far.attempts))
            .bind(i64::from(so_far.sessions))
            .bind(so_far.account.as_ref().map(AccountName::as_str))
            .bind(so_far.engine.as_deref())
            .bind(i64::from(so_far.retries))
            .bind(i64::from(so_far.cost_estimated))
            .bind(so_far.reviewed_by.as_ref().map(AccountName::as_str))
            .execute(&mut *tx)
            .await?;
            for used in &so_far.used {
                query(
                    "INSERT INTO used (firing, account, sessions, turns, tokens, cost_usd, \
                     cost_estimated, untold) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                     ON CONFLICT (firing, account) DO UPDATE SET sessions = excluded.sessions, \
                     turns = excluded.turns, tokens = excluded.tokens, \
                     cost_usd = excluded.cost_usd, cost_estimated = excluded.cost_estimated, \
                     untold = excluded.untold",
                )
                .bind(self.id.uuid())
                .bind(used.account.as_str())
                .bind(i64::from(used.sessions))
                .bind(i64::from(used.turns))
                .bind(signed(used.tokens))
                .bind(used.cost_usd)
                .bind(i64::from(used.cost_estimated))
                .bind(i64::from(used.untold))
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// Where the firing works: written before the place exists.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_place(
        self,
        branch: &str,
        base_sha: &str,
        bench: &std::path::Path,
    ) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE firing SET branch = $2, base_sha = $3, bench = $4 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(self.store.outside(branch).as_ref())
        .bind(base_sha)
        .bind(bench.to_string_lossy().into_owned())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The branch of an earlier pull request with whose work the firing goes on.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_goes_on(self, branch: &str) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE firing SET goes_on = $2 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(self.store.outside(branch).as_ref())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// That the firing is a second try beside this pull request.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_second_try(self, pull: u64) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE firing SET second_try = $2 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(signed(pull))
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The firing's pull request.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_pull(self, number: u64, url: &str) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE firing SET pr_number = $2, pr_url = $3 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(signed(number))
        .bind(self.store.outside(url).as_ref())
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The ref that keeps what was not pushed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_salvage_ref(self, kept: &str) -> Result<(), StoreError> {
        fenced!(self, self.store, |tx| query(
            "UPDATE firing SET salvage_ref = $2 WHERE id = $1"
        )
        .bind(self.id.uuid())
        .bind(kept)
        .execute(&mut *tx)
        .await?
        .rows_affected());
        Ok(())
    }

    /// The commit that was judged, or pushed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn set_judged(self, judged: Judged, sha: &str) -> Result<(), StoreError> {
        let update = match judged {
            Judged::Verified => "UPDATE firing SET verified_sha = $2 WHERE id = $1",
            Judged::Reviewed => "UPDATE firing SET reviewed_sha = $2 WHERE id = $1",
            Judged::Pushed => "UPDATE firing SET pushed_sha = $2 WHERE id = $1",
        };
        // A push is known outside.
        let store = match judged {
            Judged::Pushed => self.store.clone(),
            Judged::Verified | Judged::Reviewed => self.store.noting(),
        };
        fenced!(self, store, |tx| query(update)
            .bind(self.id.uuid())
            .bind(sha)
            .execute(&mut *tx)
            .await?
            .rows_affected());
        Ok(())
    }

    /// Tool calls that were stopped, all of them together.
    ///
    /// # Errors
    /// When the database does not answer; then none of them is written.
    pub async fn add_blocked_calls(
        self,
        calls: &[Stopped],
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        if calls.is_empty() {
            return Ok(());
        }
        fenced!(self, self.store, |tx| {
            for stopped in calls {
                query(
                    "INSERT INTO blocked_call (firing, rule, tool, call, at) \
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(self.id.uuid())
                .bind(self.store.outside(&stopped.rule).as_ref())
                .bind(self.store.outside(&stopped.tool).as_ref())
                .bind(self.store.outside(&stopped.call).as_ref())
                .bind(at)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }
}

/// What was done with a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The promise passed on it.
    Verified,
    /// The diff review approved it.
    Reviewed,
    /// It was pushed.
    Pushed,
}

/// A tool call that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The rule, or the reason that was given.
    pub rule: String,
    /// The tool.
    pub tool: String,
    /// The call.
    pub call: String,
}
