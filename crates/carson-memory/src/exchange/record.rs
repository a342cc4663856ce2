//! One lesson a line, with all that was ever thought of it.

use carson_core::lesson::{
    Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope, Severity,
};
use carson_core::{FiringId, RepoName};
use carson_redact::Redactor;
use carson_store::{Change, NewLesson, Valid};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::words;

/// The only version that there is.
const VERSION: u32 = 1;
/// Longest line that is read, in bytes.
const LINE: usize = 256 * 1024;
/// Most lines of one file.
const LINES: usize = 200_000;
/// How far the clock of whoever wrote the file may be ahead.
const AHEAD: TimeDelta = TimeDelta::hours(1);
/// Most changes of one lesson.
const CHANGES: usize = 10_000;

/// A lesson and its history, as a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    version: u32,
    id: LessonId,
    recorded_at: DateTime<Utc>,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    kind: LessonKind,
    severity: Severity,
    scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repo: Option<RepoName>,
    confidence: f64,
    valid_from: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_to: Option<DateTime<Utc>>,
    source: LessonSource,
    by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    firing: Option<FiringId>,
    evidence: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Value>,
    history: Vec<ChangeRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeRecord {
    at: DateTime<Utc>,
    state: LessonState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_from: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_to: Option<DateTime<Utc>>,
    confidence: f64,
    by: String,
    why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<u32>,
}

/// A line that is no lesson.
#[derive(Debug, Error)]
pub enum RecordError {
    /// It is no JSON of one.
    #[error("line {line} is no lesson: {why}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// There are too many.
    #[error("the file has more than {LINES} lines: divide it")]
    Many,
}

impl Record {
    /// Of rows.
    #[must_use]
    pub fn of(lesson: NewLesson, history: &[Change]) -> Self {
        let change = |one: &Change| ChangeRecord {
            at: one.at,
            state: one.state,
            valid_from: one.valid.map(|valid| valid.from),
            valid_to: one.valid.and_then(|valid| valid.to),
            confidence: one.confidence,
            by: one.by.clone(),
            why: one.why.clone(),
            undoes: one.undoes,
        };
        Self {
            version: VERSION,
            id: lesson.id,
            recorded_at: lesson.recorded_at,
            text: lesson.text,
            body: lesson.body,
            kind: lesson.kind,
            severity: lesson.severity,
            scope: lesson.scope,
            repo: lesson.repo,
            confidence: lesson.confidence,
            valid_from: lesson.valid.from,
            valid_to: lesson.valid.to,
            source: lesson.source,
            by: lesson.by,
            firing: lesson.firing,
            evidence: lesson.evidence,
            origin: lesson.origin,
            history: history.iter().map(change).collect(),
        }
    }

    /// As rows; without secrets, also where it is searched.
    #[must_use]
    pub fn rows(self, redactor: &Redactor) -> (NewLesson, Vec<Change>) {
        let change = |(n, one): (u32, ChangeRecord)| Change {
            n,
            at: one.at,
            state: one.state,
            valid: one.valid_from.map(|from| Valid {
                from,
                to: one.valid_to,
            }),
            confidence: one.confidence,
            by: one.by,
            why: one.why,
            undoes: one.undoes,
        };
        let history = (1..).zip(self.history).map(change).collect();
        let text = redactor.redact(&self.text).into_owned();
        let body = self.body.map(|body| redactor.redact(&body).into_owned());
        let lesson = NewLesson {
            id: self.id,
            recorded_at: self.recorded_at,
            digest: words::digest(&text),
            words: words::searched(body.as_deref().unwrap_or(&text)),
            text,
            body,
            kind: self.kind,
            severity: self.severity,
            scope: self.scope,
            repo: self.repo,
            confidence: self.confidence,
            valid: Valid {
                from: self.valid_from,
                to: self.valid_to,
            },
            source: self.source,
            by: self.by,
            firing: self.firing,
            origin: self.origin,
            evidence: self.evidence,
        };
        (lesson, history)
    }

    /// What keeps it from being a lesson.
    fn wrong(&self, now: DateTime<Utc>) -> Option<String> {
        let share = |number: f64| (0.0..=1.0).contains(&number);
        if self.version != VERSION {
            return Some(format!(
                "its version is {}, and {VERSION} is known",
                self.version
            ));
        }
        if self.history.is_empty() || self.history.len() > CHANGES {
            return Some("it has no history".to_owned());
        }
        if !share(self.confidence) || !self.history.iter().all(|one| share(one.confidence)) {
            return Some("a confidence is not from 0 to 1".to_owned());
        }
        // A clock may go a little wrong; what is known only from tomorrow on would hide what is decided today.
        if self.history.iter().any(|one| one.at > now + AHEAD) {
            return Some("a change of it is in the future".to_owned());
        }
        let text = self.text.chars().count();
        let body = self.body.as_deref().map_or(0, |body| body.chars().count());
        if text > carson_core::lesson::TEXT_MAX || body > carson_core::lesson::BODY_MAX {
            return Some("its text is too long".to_owned());
        }
        let believed =
            |one: &ChangeRecord| (one.state == LessonState::Promoted) == one.valid_from.is_some();
        let reverted = |one: &ChangeRecord| one.state == LessonState::Reverted;
        if !self
            .history
            .iter()
            .all(|one| believed(one) || reverted(one))
        {
            return Some(
                "a change is believed without being promoted, or promoted of no time".to_owned(),
            );
        }
        None
    }
}

/// The line of a lesson, without its end.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn write_line(record: &Record) -> Result<String, serde_json::Error> {
    serde_json::to_string(record)
}

/// The lessons of a file; `now` is the time here.
///
/// # Errors
/// When a line is none; nothing is read then.
pub fn read_lines(text: &str, now: DateTime<Utc>) -> Result<Vec<Record>, RecordError> {
    let mut records = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() {
            continue;
        }
        if line > LINES {
            return Err(RecordError::Many);
        }
        let wrong = |why: String| RecordError::Line { line, why };
        if text.len() > LINE {
            return Err(wrong("it is too long".to_owned()));
        }
        let record: Record =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match record.wrong(now) {
            Some(why) => return Err(wrong(why)),
            None => records.push(record),
        }
    }
    Ok(records)
}
