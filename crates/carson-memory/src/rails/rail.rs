//! What a rule knows, and what it says.

use carson_core::lesson::LessonId;
use carson_redact::Redactor;

use crate::candidate::Candidate;
use crate::found::Piece;

/// What is known of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// As it was proposed.
    pub candidate: &'a Candidate,
    /// What was found where its evidence points.
    pub pieces: &'a [Piece],
    /// Lessons that are believed, and candidates before it, which speak of like things.
    pub others: &'a [Other],
    /// What knows secrets.
    pub redactor: &'a Redactor,
}

/// Another lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its id.
    pub id: LessonId,
    /// What it says.
    pub text: String,
    /// Whether it is believed.
    pub believed: bool,
    /// Where it holds.
    pub scope: carson_core::lesson::Scope,
}

/// A rule that a candidate broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub rail: &'static str,
    /// What it broke it with.
    pub why: String,
    /// Whether nobody is asked any more.
    pub rejects: bool,
}

/// What breaks a rule.
pub(super) enum Breach {
    /// A person may see it otherwise.
    Holds(String),
    /// It was meant to break it.
    Rejects(String),
}

/// All texts of a candidate that anybody will read.
pub(super) fn texts<'a>(known: &Known<'a>) -> impl Iterator<Item = String> + use<'a> {
    let candidate = known.candidate;
    let own = [Some(candidate.text.clone()), candidate.body.clone()];
    let evidence = candidate.evidence.iter().map(ToString::to_string);
    own.into_iter().flatten().chain(evidence)
}
