//! What became of one pull request.

use carson_core::pull_end::PullEnd;
use carson_core::{AccountName, RepoName, RoleName};
use chrono::{DateTime, Utc};
use serde::Serialize;

/// What became of one pull request. It is put down to the firing that pushed to it last.
#[derive(Clone, Debug, Serialize)]
pub struct PullOutcome {
    /// Its repository.
    pub repo: RepoName,
    /// Its number.
    pub number: u64,
    /// Where a person finds it.
    pub url: Option<String>,
    /// The title of its work.
    pub title: Option<String>,
    /// Whose work it is.
    pub role: RoleName,
    /// The engine.
    pub engine: Option<String>,
    /// The account.
    pub account: Option<AccountName>,
    /// Which prompts the role had; nobody noted it for firings of older versions.
    pub prompt_version: Option<String>,
    /// The pull request of the first try, where it is that of a second one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_try: Option<u64>,
    /// What became of it, as far as anybody told.
    pub end: Option<PullEnd>,
    /// When it was opened.
    pub opened_at: Option<DateTime<Utc>>,
    /// When it was merged or closed.
    pub ended_at: Option<DateTime<Utc>>,
    /// Hours from its opening to its merge.
    pub hours_to_merge: Option<f64>,
    /// Firings of its work that had a session, until it ended: also those that failed.
    pub firings: u64,
    /// Money of all of them; `None` where that of one of them is not known.
    pub cost_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
}
