//! Structured comments: their first line is for us, the rest for people.

use carson_core::{FiringId, HostName, RoleName};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use crate::words::Comment;

/// A claim older than this is dead: no firing may last so long.
const STALE: TimeDelta = TimeDelta::hours(24);

/// How every first line begins.
const OPENING: &str = "<!-- carson:";

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

impl Claim {
    /// Whether it is older than any firing can be.
    #[must_use]
    pub fn is_stale(&self, now: DateTime<Utc>) -> bool {
        now - self.at >= STALE
    }
}

/// A structured comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Claim(Claim),
    Release {
        firing: FiringId,
        counts: bool,
    },
    /// The issue was given to people: what came before does not count any more.
    HandOver,
}

pub(crate) fn claim_text(claim: &Claim) -> String {
    format!(
        "{OPENING}claim firing={} role={} host={} at={} -->\n{} on {} takes this.",
        claim.firing,
        claim.role,
        claim.host,
        claim.at.to_rfc3339_opts(SecondsFormat::Micros, true),
        claim.role,
        claim.host,
    )
}

pub(crate) fn release_text(claim: &Claim, outcome: &str, counts: bool, note: &str) -> String {
    let outcome: String = outcome
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    format!(
        "{OPENING}release firing={} outcome={outcome} counts={counts} -->\n{}",
        claim.firing,
        defused(note)
    )
}

pub(crate) fn hand_over_text(firing: FiringId, note: &str) -> String {
    format!("{OPENING}hand-over firing={firing} -->\n{}", defused(note))
}

/// The first line of a comment that is made once.
pub(crate) fn note_line(key: &str) -> String {
    let key: String = key
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    format!("{OPENING}note key={key} -->")
}

pub(crate) fn note_text(key: &str, body: &str) -> String {
    format!("{}\n{}", note_line(key), defused(body))
}

/// The text with every line that could pass for one of ours made visible.
pub(crate) fn defused(text: &str) -> String {
    text.replace(OPENING, "&lt;!-- carson:")
}

/// Whether it looks like a structured comment, whoever wrote it.
pub(crate) fn is_mark(comment: &Comment) -> bool {
    comment.body.trim_start().starts_with(OPENING)
}

/// Reads the structured first line of a comment.
pub(crate) fn read(comment: &Comment) -> Option<Mark> {
    let line = comment.body.lines().next()?.trim();
    let inner = line.strip_prefix(OPENING)?.strip_suffix(" -->")?;
    let mut words = inner.split_whitespace();
    let kind = words.next()?;
    let value = |name: &str| {
        inner
            .split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let firing = value("firing")?.parse().ok()?;
    match kind {
        "claim" => Some(Mark::Claim(Claim {
            firing,
            role: value("role")?.parse().ok()?,
            host: value("host")?.parse().ok()?,
            at: value("at")?.parse().ok()?,
        })),
        "release" => Some(Mark::Release {
            firing,
            counts: value("counts")? == "true",
        }),
        "hand-over" => Some(Mark::HandOver),
        _ => None,
    }
}

/// The claims that nobody has released, earliest first.
pub(crate) fn unreleased(marks: &[Mark]) -> Vec<&Claim> {
    let released = |id: FiringId| {
        let ends = |mark: &Mark| matches!(mark, Mark::Release { firing, .. } if *firing == id);
        marks.iter().any(ends)
    };
    let claims = marks.iter().filter_map(|mark| match mark {
        Mark::Claim(claim) => Some(claim),
        Mark::Release { .. } | Mark::HandOver => None,
    });
    claims.filter(|claim| !released(claim.firing)).collect()
}
