//! Lessons and changes as rows.

use carson_core::lesson::{
    Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope, Severity,
};
use carson_core::{FiringId, RepoName};
use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::error::StoreError;
use crate::firing::{parsed, small};
use crate::row::row;

/// A lesson as it was proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct NewLesson {
    /// Its id.
    pub id: LessonId,
    /// When it was written down.
    pub recorded_at: DateTime<Utc>,
    /// What it says.
    pub text: String,
    /// The whole of it, where it was brought from elsewhere and is longer.
    pub body: Option<String>,
    /// What sort of claim it is.
    pub kind: LessonKind,
    /// How much it matters.
    pub severity: Severity,
    /// Where it holds.
    pub scope: Scope,
    /// The repository in which its evidence is found.
    pub repo: Option<RepoName>,
    /// How sure whoever proposed it was.
    pub confidence: f64,
    /// Of which times in the world it was said.
    pub valid: Valid,
    /// Where it came from.
    pub source: LessonSource,
    /// Who proposed it.
    pub by: String,
    /// The firing whose session proposed it.
    pub firing: Option<FiringId>,
    /// The record that it was made of, where it was brought from elsewhere.
    pub origin: Option<Value>,
    /// The same for texts that say the same in the same words.
    pub digest: String,
    /// Its text as it is searched: words of letters and digits, a blank between two.
    pub words: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// A stretch of time in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valid {
    /// From then on.
    pub from: DateTime<Utc>,
    /// Until before then.
    pub to: Option<DateTime<Utc>>,
}

/// What was thought of a lesson from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its place in the lesson's history, from 1.
    pub n: u32,
    /// Since when it was known.
    pub at: DateTime<Utc>,
    /// Where the lesson stands.
    pub state: LessonState,
    /// Of which times in the world it is believed; of none without.
    pub valid: Option<Valid>,
    /// How much.
    pub confidence: f64,
    /// Who decided.
    pub by: String,
    /// Why.
    pub why: String,
    /// The change that this one takes back.
    pub undoes: Option<u32>,
}

/// Two points in time: one in the world, one in what was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Of when in the world.
    pub as_of: DateTime<Utc>,
    /// By what was known when.
    pub known_at: DateTime<Utc>,
}

/// A lesson, and what is thought of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonRow {
    /// Its place among all lessons.
    pub seq: i64,
    /// As it was proposed; its evidence is asked for apart.
    pub lesson: NewLesson,
    /// What is thought of it.
    pub now: Change,
}

/// What an abbreviated id names.
#[derive(Clone, Debug)]
pub enum LessonFound {
    /// One lesson.
    One(Box<LessonRow>),
    /// None.
    Nothing,
    /// Several.
    Many(Vec<LessonId>),
}

impl Times {
    /// The same for both.
    #[must_use]
    pub fn now(at: DateTime<Utc>) -> Self {
        Self {
            as_of: at,
            known_at: at,
        }
    }
}

impl Change {
    /// Whether it is believed of this time in the world.
    #[must_use]
    pub fn holds(&self, as_of: DateTime<Utc>) -> bool {
        let within = |valid: Valid| valid.from <= as_of && valid.to.is_none_or(|to| as_of < to);
        self.valid.is_some_and(within)
    }
}

row! {
    pub(super) struct ChangeRaw {
        pub n: i64,
        at: DateTime<Utc>,
        state: String,
        valid_from: Option<DateTime<Utc>>,
        valid_to: Option<DateTime<Utc>>,
        confidence: f64,
        by: String,
        why: String,
        undoes: Option<i64>,
    }
}

impl TryFrom<ChangeRaw> for Change {
    type Error = StoreError;

    fn try_from(raw: ChangeRaw) -> Result<Self, StoreError> {
        let to = raw.valid_to;
        Ok(Self {
            n: small(raw.n),
            at: raw.at,
            state: parsed("state", &raw.state)?,
            valid: raw.valid_from.map(|from| Valid { from, to }),
            confidence: raw.confidence,
            by: raw.by,
            why: raw.why,
            undoes: raw.undoes.map(small),
        })
    }
}

row! {
    pub(super) struct LessonRaw {
        seq: i64,
        id: Uuid,
        recorded_at: DateTime<Utc>,
        text: String,
        body: Option<String>,
        kind: String,
        severity: String,
        scope: String,
        repo: Option<String>,
        confidence: f64,
        valid_from: DateTime<Utc>,
        valid_to: Option<DateTime<Utc>>,
        source: String,
        by: String,
        firing: Option<Uuid>,
        origin: Option<String>,
        digest: String,
        words: String,
        c_n: i64,
        c_at: DateTime<Utc>,
        c_state: String,
        c_valid_from: Option<DateTime<Utc>>,
        c_valid_to: Option<DateTime<Utc>>,
        c_confidence: f64,
        c_by: String,
        c_why: String,
        c_undoes: Option<i64>,
    }
}

impl TryFrom<LessonRaw> for LessonRow {
    type Error = StoreError;

    fn try_from(raw: LessonRaw) -> Result<Self, StoreError> {
        let now = ChangeRaw {
            n: raw.c_n,
            at: raw.c_at,
            state: raw.c_state,
            valid_from: raw.c_valid_from,
            valid_to: raw.c_valid_to,
            confidence: raw.c_confidence,
            by: raw.c_by,
            why: raw.c_why,
            undoes: raw.c_undoes,
        };
        let lesson = NewLesson {
            id: raw.id.into(),
            recorded_at: raw.recorded_at,
            text: raw.text,
            body: raw.body,
            kind: parsed("kind", &raw.kind)?,
            severity: parsed("severity", &raw.severity)?,
            scope: parsed("scope", &raw.scope)?,
            repo: raw.repo.map(|repo| parsed("repo", &repo)).transpose()?,
            confidence: raw.confidence,
            valid: Valid {
                from: raw.valid_from,
                to: raw.valid_to,
            },
            source: parsed("source", &raw.source)?,
            by: raw.by,
            firing: raw.firing.map(Into::into),
            origin: raw.origin.and_then(|text| serde_json::from_str(&text).ok()),
            digest: raw.digest,
            words: raw.words,
            evidence: Vec::new(),
        };
        Ok(Self {
            seq: raw.seq,
            lesson,
            now: now.try_into()?,
        })
    }
}

/// The columns of a lesson `l` and of the change `c` that counts.
macro_rules! select_lesson {
    ($rest:expr) => {
        concat!(
            "SELECT l.seq, l.id, l.recorded_at, l.text, l.body, l.kind, l.severity, l.scope, l.repo, l.confidence, \
             l.valid_from, l.valid_to, l.source, l.by, l.firing, l.origin, l.digest, l.words, c.n AS c_n, c.at AS c_at, \
             c.state AS c_state, c.valid_from AS c_valid_from, c.valid_to AS c_valid_to, \
             c.confidence AS c_confidence, c.by AS c_by, c.why AS c_why, c.undoes AS c_undoes ",
            $rest
        )
    };
}

pub(super) use select_lesson;
