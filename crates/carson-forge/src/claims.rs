//! Claims: structured comments; the earliest living one wins.

use carson_core::{FiringId, HostName, RoleName};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use crate::error::ForgeError;
use crate::forge::{Forge, is_ready};
use crate::words::Comment;

/// The label of claimed work.
const IN_FLIGHT: &str = "carson:in-flight";
/// A claim older than this is dead: no firing may last so long.
const STALE: TimeDelta = TimeDelta::hours(24);

/// Who takes a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The firing.
    pub firing: FiringId,
    /// Its role.
    pub role: RoleName,
    /// Its host.
    pub host: HostName,
    /// When.
    pub at: DateTime<Utc>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The work is ours.
    Won,
    /// An earlier claim lives.
    Lost {
        /// Whose.
        by: FiringId,
    },
    /// The issue is not ready any more.
    NotReady,
}

/// How a claim ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The firing's outcome.
    pub outcome: String,
    /// What people read.
    pub note: String,
    /// Whether the attempt counts.
    pub attempt_counts: bool,
    /// Labels to add.
    pub add: Vec<String>,
    /// Labels to remove.
    pub remove: Vec<String>,
}

/// A structured comment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
    Claim(FiringId, DateTime<Utc>),
    Release(FiringId, bool),
}

impl Forge {
    /// Takes an issue: writes a claim, reads back, and the earliest living claim wins. The winner
    /// swaps `ready` for `carson:in-flight`; a loser releases its claim.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn claim(
        &self,
        number: u64,
        ready: &str,
        claim: &Claim,
    ) -> Result<Claimed, ForgeError> {
        if !is_ready(&self.issue(number).await?, ready) {
            return Ok(Claimed::NotReady);
        }
        self.comment(number, &claim_text(claim)).await?;
        match winner(&self.comments(number).await?, claim.at) {
            Some(firing) if firing != claim.firing => {
                self.comment(number, &release_text(claim, "LOST", false, ""))
                    .await?;
                Ok(Claimed::Lost { by: firing })
            }
            _ => {
                self.set_labels(number, &[IN_FLIGHT], &[ready]).await?;
                Ok(Claimed::Won)
            }
        }
    }

    /// Ends a claim. Repeating it changes nothing; without a claim there is nothing to release.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn release(
        &self,
        number: u64,
        claim: &Claim,
        release: &Release,
    ) -> Result<(), ForgeError> {
        let comments = self.comments(number).await?;
        let ours = |mark: &Mark| matches!(mark, Mark::Claim(id, _) if *id == claim.firing);
        let ended = |mark: &Mark| matches!(mark, Mark::Release(id, _) if *id == claim.firing);
        let marks: Vec<Mark> = comments.iter().filter_map(mark).collect();
        if !marks.iter().any(ours) || marks.iter().any(ended) {
            return Ok(());
        }
        // Labels first: a claim that is released in words but still labelled would hide the issue.
        let add: Vec<&str> = release.add.iter().map(String::as_str).collect();
        let remove: Vec<&str> = release.remove.iter().map(String::as_str).collect();
        self.set_labels(number, &add, &remove).await?;
        let text = release_text(
            claim,
            &release.outcome,
            release.attempt_counts,
            &release.note,
        );
        self.comment(number, &text).await.map(|_| ())
    }

    /// Firings that took this issue and did not finish it.
    ///
    /// # Errors
    /// When the forge does not answer.
    pub async fn attempts(&self, number: u64) -> Result<u32, ForgeError> {
        let comments = self.comments(number).await?;
        let counted = comments.iter().filter_map(mark);
        let counted = counted
            .filter(|mark| matches!(mark, Mark::Release(_, true)))
            .count();
        Ok(u32::try_from(counted).unwrap_or(u32::MAX))
    }
}

fn claim_text(claim: &Claim) -> String {
    format!(
        "<!-- carson:claim firing={} role={} host={} at={} -->\n{} on {} takes this.",
        claim.firing,
        claim.role,
        claim.host,
        claim.at.to_rfc3339_opts(SecondsFormat::Micros, true),
        claim.role,
        claim.host,
    )
}

fn release_text(claim: &Claim, outcome: &str, counts: bool, note: &str) -> String {
    let outcome: String = outcome
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    format!(
        "<!-- carson:release firing={} outcome={outcome} counts={counts} -->\n{note}",
        claim.firing
    )
}

/// The firing of the earliest claim that is neither released nor stale.
fn winner(comments: &[Comment], now: DateTime<Utc>) -> Option<FiringId> {
    let marks: Vec<Mark> = comments.iter().filter_map(mark).collect();
    let released = |id: FiringId| {
        marks
            .iter()
            .any(|mark| matches!(mark, Mark::Release(by, _) if *by == id))
    };
    marks.iter().find_map(|mark| match mark {
        Mark::Claim(id, at) if !released(*id) && now - *at < STALE => Some(*id),
        _ => None,
    })
}

/// Reads the structured first line of a comment.
fn mark(comment: &Comment) -> Option<Mark> {
    let line = comment.body.lines().next()?.trim();
    let inner = line.strip_prefix("<!-- carson:")?.strip_suffix(" -->")?;
    let mut words = inner.split_whitespace();
    let kind = words.next()?;
    let value = |name: &str| {
        inner
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let firing = value("firing")?.parse().ok()?;
    match kind {
        "claim" => Some(Mark::Claim(firing, value("at")?.parse().ok()?)),
        "release" => Some(Mark::Release(firing, value("counts")? == "true")),
        _ => None,
    }
}
