//! A lesson as it is shown, and found by what was typed.

use carson_core::lesson::{
    Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope, Severity,
};
use carson_core::{FiringId, RepoName};
use carson_home::Home;
use carson_store::{Change, LessonFound, LessonRow};
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::refusal::Refusal;

/// A lesson, and what is thought of it.
#[derive(Clone, Debug, Serialize)]
pub struct ShownLesson {
    /// Its id.
    pub id: LessonId,
    /// What it says.
    pub text: String,
    /// The whole of it, where it was brought from elsewhere and is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Where it holds.
    pub scope: Scope,
    /// Where it stands.
    pub state: LessonState,
    /// How much it is believed, or how sure whoever proposed it was.
    pub confidence: f64,
    /// How much it matters.
    pub severity: Severity,
    /// What sort of claim it is.
    pub kind: LessonKind,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The repository in which that is found.
    pub repo: Option<RepoName>,
    /// Where it came from.
    pub source: LessonSource,
    /// Who proposed it.
    pub by: String,
    /// The firing whose session did.
    pub firing: Option<FiringId>,
    /// When it was written down.
    pub recorded_at: DateTime<Utc>,
    /// Since when it is so in the world, as it is believed or was said.
    pub valid_from: Option<DateTime<Utc>>,
    /// Until when.
    pub valid_to: Option<DateTime<Utc>>,
    /// Since when it stands so.
    pub since: DateTime<Utc>,
    /// Why it does.
    pub why: String,
}

impl ShownLesson {
    pub(crate) async fn of(home: &Home, row: LessonRow) -> Result<Self, Refusal> {
        let evidence = home.store.lesson_evidence(row.seq).await?;
        let Change {
            at,
            state,
            valid,
            confidence,
            why,
            ..
        } = row.now;
        let lesson = row.lesson;
        let valid = valid.unwrap_or(lesson.valid);
        Ok(Self {
            id: lesson.id,
            text: lesson.text,
            body: lesson.body,
            scope: lesson.scope,
            state,
            confidence,
            severity: lesson.severity,
            kind: lesson.kind,
            evidence,
            repo: lesson.repo,
            source: lesson.source,
            by: lesson.by,
            firing: lesson.firing,
            recorded_at: lesson.recorded_at,
            valid_from: Some(valid.from),
            valid_to: valid.to,
            since: at,
            why,
        })
    }
}

/// The lesson that was typed: its id, or any part of it that no other has.
pub(crate) async fn found(home: &Home, text: &str) -> Result<LessonRow, Refusal> {
    match home.store.find_lesson(text).await? {
        LessonFound::One(row) => Ok(*row),
        LessonFound::Nothing => Err(Refusal::NoLesson(text.to_owned())),
        LessonFound::Many(ids) => Err(Refusal::ManyLessons {
            text: text.to_owned(),
            ids,
        }),
    }
}

/// An instant that was typed: RFC 3339, or as `--since` takes it.
pub(crate) fn instant(
    home: &Home,
    field: &'static str,
    text: Option<&str>,
) -> Result<Option<DateTime<Utc>>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(Some(at.to_utc()));
    }
    crate::since::since(home, Some(text)).map_err(|_| Refusal::Field {
        field,
        problem: format!(
            "{text:?} says no time: write 2026-11-20T10:00:00Z, a day, 2h, 3d or yesterday"
        ),
    })
}

/// A word of a few.
pub(crate) fn word<T: std::str::FromStr>(
    field: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, Refusal>
where
    T::Err: std::fmt::Display,
{
    let parsed = text.map(|text| {
        text.parse::<T>().map_err(|error| Refusal::Field {
            field,
            problem: error.to_string(),
        })
    });
    parsed.transpose()
}
