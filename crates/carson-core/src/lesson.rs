//! What a lesson is made of: the words that rows, settings, commands and prompts share.
//!
//! A lesson is a short claim about a repository or the fleet that a later session may be told. It is worth
//! what its [`Evidence`] is worth, holds within its [`Scope`], and is in one [`LessonState`] at a time; the states
//! that it was in before are kept. What makes one worth believing is decided in `carson-memory`.

mod evidence;
mod scope;
mod words;

pub use evidence::{Evidence, EvidenceError, Lines};
pub use scope::{Scope, ScopeError};
pub use words::{LessonId, LessonKind, LessonSource, LessonState, Severity, UnknownWord};

/// Longest text of a lesson, in characters.
pub const TEXT_MAX: usize = 600;
/// Longest text that was brought from elsewhere and is kept whole, in characters.
pub const BODY_MAX: usize = 4_000;
/// Most pieces of evidence of one lesson.
pub const EVIDENCE_MAX: usize = 8;
