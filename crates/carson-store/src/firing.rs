//! The rows of a firing.

use carson_core::admission::Spent;
use carson_core::settle::{Facts, Settled};
use carson_core::work::WorkKey;
use carson_core::{AccountName, FiringId, HostName, Outcome, RepoName, RoleName, SkipKind, Stage};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::as_firing::Epoch;
use crate::error::StoreError;
use crate::row::row;

/// One firing. The field names are those of `carson firings ID --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Firing {
    /// Its id.
    pub id: FiringId,
    /// Its role.
    pub role: RoleName,
    /// The slot it fires for; `None` when an operator asked for it.
    pub slot: Option<DateTime<Utc>>,
    /// Slots before it that it stands for.
    pub missed: u32,
    /// The host that claimed it.
    pub host: HostName,
    /// The host that took it over, once its own was taken for dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<HostName>,
    /// What whoever writes it must know.
    #[serde(skip)]
    pub epoch: Epoch,
    /// The account it uses.
    pub account: Option<AccountName>,
    /// That account's engine.
    pub engine: Option<String>,
    /// The repository it works in.
    pub repo: Option<RepoName>,
    /// The piece of work it holds.
    pub work: Option<WorkKey>,
    /// The title of that work, as one line.
    pub title: Option<String>,
    /// When it was claimed.
    pub claimed_at: DateTime<Utc>,
    /// When it must have ended.
    pub deadline_at: DateTime<Utc>,
    /// When its process began.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Its process.
    pub pid: Option<i32>,
    /// That process's start time in clock ticks since boot.
    pub pid_start: Option<u64>,
    /// Where that number means something, as its system says it.
    #[serde(skip)]
    pub pid_space: Option<String>,
    /// The stage it is in, or was in last.
    pub stage: Option<Stage>,
    /// Its branch.
    pub branch: Option<String>,
    /// The branch of an earlier pull request with whose work it goes on; what it makes is pushed there.
    pub goes_on: Option<String>,
    /// The commit it began at.
    pub base_sha: Option<String>,
    /// Its bench.
    pub bench: Option<String>,
    /// Number of its pull request.
    pub pr_number: Option<u64>,
    /// Address of its pull request.
    pub pr_url: Option<String>,
    /// The ref that keeps its work, when it was not pushed.
    pub salvage_ref: Option<String>,
    /// The commit on which its promise passed.
    pub verified_sha: Option<String>,
    /// The commit that its diff review approved.
    pub reviewed_sha: Option<String>,
    /// The account that judged its plan or its change, whichever was last.
    pub reviewed_by: Option<AccountName>,
    /// The commit that was pushed.
    pub pushed_sha: Option<String>,
    /// What settle said, from when it said so.
    #[serde(skip)]
    pub settled: Option<Settled>,
    /// The facts that settle saw.
    pub facts: Option<Facts>,
    /// The sentinel of its last execute session.
    pub sentinel: Option<String>,
    /// Its outcome, once it ended.
    pub outcome: Option<Outcome>,
    /// Why.
    pub reason: Option<String>,
    /// Which stop it was, when it was skipped.
    pub skip: Option<SkipKind>,
    /// Execute attempts.
    pub attempts: u32,
    /// CLI invocations.
    pub sessions: u32,
    /// Turns over all sessions.
    pub turns: u32,
    /// Input tokens over all sessions.
    pub tokens_in: u64,
    /// Output tokens over all sessions.
    pub tokens_out: u64,
    /// Money over all sessions: as the engine reports it, else priced from tokens.
    pub cost_usd: Option<f64>,
    /// The weakest confinement that one of its sessions had, as the launcher reported it.
    pub sandbox: Option<Value>,
    /// Whether part of that was priced from tokens.
    pub cost_estimated: bool,
    /// Sessions that were tried again because the provider was not available.
    pub retries: u32,
    /// Which prompts its role had when it started: a short name for the text of all of them.
    pub prompt_version: Option<String>,
    /// The pull request of an earlier firing beside which it is a second try of the same work.
    pub second_try: Option<u64>,
}

impl Firing {
    /// What it cost, where that is known.
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        let estimated = self.cost_estimated;
        self.cost_usd.map(|usd| Spent { usd, estimated })
    }
}

/// One stage of a firing.
#[derive(Clone, Debug, Serialize)]
pub struct StageRow {
    /// Which.
    pub name: Stage,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When the next one began, or it was over.
    pub ended_at: Option<DateTime<Utc>>,
}

row! {
    /// A tool call that was stopped.
    #[derive(Clone, Debug, Serialize)]
    pub struct BlockedCall {
        /// The rule, or the reason that was given.
        pub rule: String,
        /// The tool.
        pub tool: String,
        /// The call, redacted and cut.
        pub call: String,
        /// When.
        pub at: DateTime<Utc>,
    }
}

/// `SELECT` of the columns of [`Raw`], and what follows. They are named, because a newer Carson may add
/// some while this one runs: the answer to a `*` would have another width than its statement.
macro_rules! select_firing {
    ($rest:literal) => {
        concat!(
            "SELECT firing.id, firing.role, firing.slot, firing.missed, firing.host, firing.account, \
             firing.engine, firing.repo, firing.work, firing.title, firing.claimed_at, \
             firing.deadline_at, firing.started_at, firing.ended_at, firing.pid, firing.pid_start, \
             firing.pid_space, firing.stage, firing.branch, firing.base_sha, firing.bench, firing.pr_number, \
             firing.pr_url, firing.salvage_ref, firing.verified_sha, firing.reviewed_sha, \
             firing.pushed_sha, firing.settled, firing.facts, firing.sentinel, firing.outcome, \
             firing.reason, firing.skip, firing.attempts, firing.sessions, firing.turns, \
             firing.tokens_in, firing.tokens_out, firing.cost_usd, firing.sandbox, \
             firing.cost_estimated, firing.retries, firing.goes_on, firing.prompt_version, \
             firing.reviewed_by, firing.second_try, firing.epoch, firing.carrier ",
            $rest
        )
    };
}
pub(crate) use select_firing;

row! {
    /// The row as the databases give it.
    pub(crate) struct Raw {
        id: Uuid,
        role: String,
        slot: Option<DateTime<Utc>>,
        missed: i64,
        host: String,
        account: Option<String>,
        engine: Option<String>,
        repo: Option<String>,
        work: Option<String>,
        title: Option<String>,
        claimed_at: DateTime<Utc>,
        deadline_at: DateTime<Utc>,
        started_at: Option<DateTime<Utc>>,
        ended_at: Option<DateTime<Utc>>,
        pid: Option<i64>,
        pid_start: Option<i64>,
        pid_space: Option<String>,
        stage: Option<String>,
        branch: Option<String>,
        base_sha: Option<String>,
        bench: Option<String>,
        pr_number: Option<i64>,
        pr_url: Option<String>,
        salvage_ref: Option<String>,
        verified_sha: Option<String>,
        reviewed_sha: Option<String>,
        pushed_sha: Option<String>,
        settled: Option<String>,
        facts: Option<String>,
        sentinel: Option<String>,
        outcome: Option<String>,
        reason: Option<String>,
        skip: Option<String>,
        attempts: i64,
        sessions: i64,
        turns: i64,
        tokens_in: i64,
        tokens_out: i64,
        cost_usd: Option<f64>,
        sandbox: Option<String>,
        cost_estimated: i64,
        retries: i64,
        goes_on: Option<String>,
        prompt_version: Option<String>,
        reviewed_by: Option<String>,
        second_try: Option<i64>,
        epoch: i64,
        carrier: Option<String>,
    }
}

impl TryFrom<Raw> for Firing {
    type Error = StoreError;

    fn try_from(raw: Raw) -> Result<Self, StoreError> {
        Ok(Self {
            id: raw.id.into(),
            role: parsed("role", &raw.role)?,
            slot: raw.slot,
            missed: small(raw.missed),
            host: parsed("host", &raw.host)?,
            carrier: maybe("carrier", raw.carrier.as_deref())?,
            epoch: Epoch(raw.epoch),
            account: maybe("account", raw.account.as_deref())?,
            engine: raw.engine,
            repo: maybe("repo", raw.repo.as_deref())?,
            work: maybe("work", raw.work.as_deref())?,
            title: raw.title,
            claimed_at: raw.claimed_at,
            deadline_at: raw.deadline_at,
            started_at: raw.started_at,
            ended_at: raw.ended_at,
            pid: raw.pid.and_then(|pid| i32::try_from(pid).ok()),
            pid_start: raw.pid_start.map(large),
            pid_space: raw.pid_space,
            stage: maybe("stage", raw.stage.as_deref())?,
            branch: raw.branch,
            goes_on: raw.goes_on,
            base_sha: raw.base_sha,
            bench: raw.bench,
            pr_number: raw.pr_number.map(large),
            pr_url: raw.pr_url,
            salvage_ref: raw.salvage_ref,
            verified_sha: raw.verified_sha,
            reviewed_sha: raw.reviewed_sha,
            reviewed_by: maybe("reviewed_by", raw.reviewed_by.as_deref())?,
            pushed_sha: raw.pushed_sha,
            settled: json("settled", raw.settled.as_deref())?,
            facts: json("facts", raw.facts.as_deref())?,
            sentinel: raw.sentinel,
            outcome: maybe("outcome", raw.outcome.as_deref())?,
            reason: raw.reason,
            skip: maybe("skip", raw.skip.as_deref())?,
            attempts: small(raw.attempts),
            sessions: small(raw.sessions),
            turns: small(raw.turns),
            tokens_in: large(raw.tokens_in),
            tokens_out: large(raw.tokens_out),
            cost_usd: raw.cost_usd,
            sandbox: json("sandbox", raw.sandbox.as_deref())?,
            cost_estimated: raw.cost_estimated != 0,
            retries: small(raw.retries),
            prompt_version: raw.prompt_version,
            second_try: raw.second_try.map(large),
        })
    }
}

pub(crate) fn parsed<T: std::str::FromStr>(
    column: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Row {
        column,
        value: text.chars().take(80).collect(),
    })
}

pub(crate) fn maybe<T: std::str::FromStr>(
    column: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, StoreError> {
    text.map(|text| parsed(column, text)).transpose()
}

pub(crate) fn json<T: serde::de::DeserializeOwned>(
    column: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, StoreError> {
    let read = |text: &str| {
        serde_json::from_str(text).map_err(|_| StoreError::Row {
            column,
            value: text.chars().take(80).collect(),
        })
    };
    text.map(read).transpose()
}

pub(crate) fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX })
}

pub(crate) fn large(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The databases have signed integers only; no count of ours comes near their end.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    // Plain structs of strings and numbers: there is nothing in them that could fail.
    serde_json::to_string(value).unwrap_or_default()
}
