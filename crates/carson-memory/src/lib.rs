//! What the fleet remembers, and why it may.
//!
//! # Theory of operation
//!
//! A lesson is a short claim with evidence. It is proposed by somebody who is not believed: a session, a failure that came
//! again, a reviewer, a person, another memory. What becomes of it is decided by values:
//!
//! - a [`Candidate`](candidate::Candidate) has the form of a lesson or is refused;
//! - somebody looks where its evidence points, and a [`Piece`](found::Piece) says what is there;
//! - [`rails`] are fixed rules (nothing hidden, no secret, nothing that speaks to a judge, a session or a tool, evidence
//!   that resolves, a scope no wider than it, nothing that is known, nothing against what is believed);
//! - the [`structural`] score is what its evidence is worth by itself: a claim that nothing bears out stays below the bar;
//! - a judge, who is a fresh session that may do nothing, answers in one strict form ([`judge`]), and can only lower;
//! - the [`gate`] decides from these alone. No answer never promotes.
//!
//! What is believed is found again by [`recall()`](recall::recall): by words, and by meaning where there is an embedder;
//! whatever is wrong with that one, words are the answer. [`canon`] says how much a lesson may say, [`block`] is the part of
//! the prompt. [`lift`] holds firings that were told something against firings that were told nothing on purpose.
//!
//! Nothing here reads a repository, asks a forge or starts a session: evidence and verdicts come as values. Rows are the
//! store's; nothing of them is changed, only added to.
//!
//! Reading order: `candidate.rs`, `found.rs`, `passages.rs`, `rails/`, `structural.rs`, `judge.rs`, `gate.rs`, `words.rs`, `recall.rs`,
//! `vectors/`, `fuse.rs`, `canon.rs`, `block.rs`, `harvest.rs`, `reviewed.rs`, `refuted.rs`, `exchange/`, `lift.rs`.

pub mod block;
pub mod candidate;
pub mod canon;
pub mod exchange;
mod folded;
pub mod found;
pub mod fuse;
pub mod gate;
pub mod harvest;
pub mod holdout;
pub mod judge;
pub mod lift;
mod passages;
pub mod proposals;
pub mod rails;
pub mod recall;
pub mod refuted;
pub mod reviewed;
pub mod scopes;
pub mod similar;
pub mod structural;
pub mod vectors;
pub mod words;

#[cfg(test)]
mod tests;
