//! What somebody proposes as a lesson, and whether it has the form of one.

use carson_core::lesson::{
    BODY_MAX, EVIDENCE_MAX, Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope,
    Severity, TEXT_MAX,
};
use carson_core::{FiringId, RepoName};
use carson_redact::Redactor;
use carson_store::{Change, NewLesson, Valid};
use chrono::{DateTime, Utc};
use serde_json::Value;
use thiserror::Error;

use crate::words;

/// The least that says anything, in characters.
const TEXT_MIN: usize = 12;

/// A proposed lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
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
    /// How sure whoever proposes it is, from 0 to 1.
    pub confidence: f64,
    /// Since when it is so in the world; since now without.
    pub valid_from: Option<DateTime<Utc>>,
    /// Until when.
    pub valid_to: Option<DateTime<Utc>>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Where it came from.
    pub source: LessonSource,
    /// Who proposes it.
    pub by: String,
    /// The firing whose session proposes it.
    pub firing: Option<FiringId>,
    /// The record that it was made of, where it was brought from elsewhere.
    pub origin: Option<Value>,
}

/// What has not the form of a lesson.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FormError {
    /// It says next to nothing.
    #[error(
        "it says nothing: say in a sentence what is so, in {TEXT_MIN} characters or more and two words that tell something"
    )]
    Short,
    /// It says too much.
    #[error("a lesson of {0} characters is too long: {TEXT_MAX} at most, one claim each")]
    Long(usize),
    /// Its whole text is too long.
    #[error("a text of {0} characters is too long to be kept: {BODY_MAX} at most")]
    LongBody(usize),
    /// It rests on nothing.
    #[error(
        "it rests on nothing: name what shows it, such as file:PATH@COMMIT:FIRST-LAST, pr:N or note:TEXT"
    )]
    NoEvidence,
    /// It rests on too much.
    #[error("it names {0} pieces of evidence: {EVIDENCE_MAX} at most")]
    MuchEvidence(usize),
    /// That is no confidence.
    #[error("a confidence is a number from 0 to 1, not {0}")]
    Confidence(f64),
    /// It ends before it begins.
    #[error("it holds until {to}, which is before {from}")]
    Ends {
        /// Since when it holds.
        from: DateTime<Utc>,
        /// Until when.
        to: DateTime<Utc>,
    },
}

impl Candidate {
    /// One of an operator with nothing but a text, a scope and evidence.
    #[must_use]
    pub fn of_operator(text: &str, scope: Scope, evidence: Vec<Evidence>) -> Self {
        Self {
            text: text.trim().to_owned(),
            body: None,
            kind: LessonKind::Fact,
            severity: Severity::Info,
            repo: scope.repo().cloned(),
            scope,
            confidence: 0.5,
            valid_from: None,
            valid_to: None,
            evidence,
            source: LessonSource::Operator,
            by: "operator".to_owned(),
            firing: None,
            origin: None,
        }
    }

    /// Of one that was written down.
    #[must_use]
    pub fn of_row(lesson: &NewLesson) -> Self {
        Self {
            text: lesson.text.clone(),
            body: lesson.body.clone(),
            kind: lesson.kind,
            severity: lesson.severity,
            scope: lesson.scope.clone(),
            repo: lesson.repo.clone(),
            confidence: lesson.confidence,
            valid_from: Some(lesson.valid.from),
            valid_to: lesson.valid.to,
            evidence: lesson.evidence.clone(),
            source: lesson.source,
            by: lesson.by.clone(),
            firing: lesson.firing,
            origin: lesson.origin.clone(),
        }
    }

    /// The first thing that is wrong with its form.
    ///
    /// # Errors
    /// When it has not the form of a lesson.
    pub fn check(&self) -> Result<(), FormError> {
        let length = self.text.trim().chars().count();
        if length < TEXT_MIN || words::words(&self.text).len() < 2 {
            return Err(FormError::Short);
        }
        if length > TEXT_MAX {
            return Err(FormError::Long(length));
        }
        let body = self.body.as_deref().map_or(0, |body| body.chars().count());
        if body > BODY_MAX {
            return Err(FormError::LongBody(body));
        }
        if self.evidence.is_empty() {
            return Err(FormError::NoEvidence);
        }
        if self.evidence.len() > EVIDENCE_MAX {
            return Err(FormError::MuchEvidence(self.evidence.len()));
        }
        if !(0.0..=1.0).contains(&self.confidence) {
            return Err(FormError::Confidence(self.confidence));
        }
        match (self.valid_from, self.valid_to) {
            (Some(from), Some(to)) if to <= from => Err(FormError::Ends { from, to }),
            _ => Ok(()),
        }
    }

    /// As it is written down, with the change that makes it a candidate; without secrets, also where it is searched.
    #[must_use]
    pub fn recorded(self, redactor: &Redactor, now: DateTime<Utc>) -> (NewLesson, Change) {
        let first = Change {
            n: 1,
            at: now,
            state: LessonState::Candidate,
            valid: None,
            confidence: self.confidence,
            by: self.by.clone(),
            why: "proposed".to_owned(),
            undoes: None,
        };
        let text = redactor.redact(self.text.trim()).into_owned();
        let body = self.body.map(|body| redactor.redact(&body).into_owned());
        let lesson = NewLesson {
            id: LessonId::new(),
            recorded_at: now,
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
                from: self.valid_from.unwrap_or(now),
                to: self.valid_to,
            },
            source: self.source,
            by: self.by,
            firing: self.firing,
            origin: self.origin,
            evidence: self.evidence,
        };
        (lesson, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(text: &str) -> Candidate {
        Candidate::of_operator(
            text,
            Scope::Fleet,
            vec![Evidence::Note("I saw it".to_owned())],
        )
    }

    #[test]
    fn what_has_the_form_of_a_lesson_passes() {
        assert_eq!(
            candidate("The parser tests need a running database").check(),
            Ok(())
        );
        assert_eq!(candidate(&"word ".repeat(120)).check(), Ok(()));
    }

    #[test]
    fn what_has_not_is_told_why() {
        let good = || candidate("The parser tests need a running database");
        let many = vec![Evidence::Pull(1); 9];
        for (bad, why) in [
            (candidate("too short"), FormError::Short),
            (candidate("the of the of and the"), FormError::Short),
            (candidate(&"ü".repeat(601)), FormError::Short),
            (candidate(&"ab cd ".repeat(101)), FormError::Long(605)),
            (
                Candidate {
                    evidence: Vec::new(),
                    ..good()
                },
                FormError::NoEvidence,
            ),
            (
                Candidate {
                    evidence: many,
                    ..good()
                },
                FormError::MuchEvidence(9),
            ),
            (
                Candidate {
                    confidence: 1.5,
                    ..good()
                },
                FormError::Confidence(1.5),
            ),
            (
                Candidate {
                    body: Some("x".repeat(4_001)),
                    ..good()
                },
                FormError::LongBody(4_001),
            ),
        ] {
            assert_eq!(bad.check(), Err(why));
        }
        let not_a_number = Candidate {
            confidence: f64::NAN,
            ..good()
        };
        assert!(matches!(
            not_a_number.check(),
            Err(FormError::Confidence(_))
        ));
    }
}
