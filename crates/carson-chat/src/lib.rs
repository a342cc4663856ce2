//! Slack as a face of the operator's verbs.
//!
//! # Theory of operation
//!
//! [`Face`] follows the settings: where `[slack]` has an app token, one task holds a WebSocket to Slack (Socket
//! Mode), so that nothing of this machine is reachable from outside. What arrives there is an *envelope*. It
//! is acknowledged before anything is done about it, and handed to the desk, which is the only place that
//! decides whether something is done:
//!
//! 1. heard before (Slack sends twice what it thinks was lost)? Nothing.
//! 2. older than five minutes, or by somebody whom nobody trusts? Nothing, and an event says so.
//! 3. A line whose first word is a verb with exactly its arguments is that verb; any other is prose, and
//!    prose does nothing ([`VERBS`]).
//! 4. A click or a reaction on a question goes to [`carson_operator::plans::decide`], which knows whether it counts.
//!
//! Questions are posted from here, with buttons, because a button needs somebody who listens. All other posts go
//! through the outbox.
//!
//! What Slack's people wrote is hostile until it is one of a few words; what is posted is escaped
//! ([`carson_notify::slack::shown`]).
//!
//! # What it does not guarantee
//!
//! An answer whose post fails twice is lost: what was asked for is done, and `carson` shows it.
//!
//! Reading order: `verbs.rs`, `words.rs`, `heard.rs`, `desk.rs`, `questions.rs`, `answers.rs`, `tell.rs`,
//! `socket.rs`, `upgrade.rs`, `backoff.rs`, `face.rs`.

mod answers;
mod backoff;
mod desk;
mod face;
mod heard;
mod links;
mod newest;
mod post;
mod questions;
mod socket;
mod tell;
mod upgrade;
mod verbs;
mod words;

pub use face::Face;
pub use newest::Newest;
pub use socket::Tell;
pub use verbs::{ChatVerb, May, VERBS};

#[cfg(test)]
mod tests;
