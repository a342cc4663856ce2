//! Slack as a face of the operator's verbs.
//!
//! # Theory of operation
//!
//! [`Face`] follows the settings: where `[slack]` has an app token, one task holds a WebSocket to Slack (Socket
//! Mode), so that nothing of this machine is reachable from outside. What arrives there is an *envelope*. It is a row of
//! the inbox before it is acknowledged; where no row can be written, it is not. From there the desk deals with it, which
//! is the only place that decides whether something is done:
//!
//! 1. heard before (Slack sends twice what it thinks was lost)? It is no second row.
//! 2. older than five minutes by now, or by somebody whom nobody trusts? Nothing is done, and an event says so.
//! 3. A line whose first word is a verb with exactly its arguments is that verb; any other is prose, and
//!    prose does nothing ([`VERBS`]).
//! 4. A click or a reaction on a question goes to [`carson_operator::plans::decide`], which knows whether it counts.
//!
//! What one person says to change something is done in its order; what only looks holds up nothing, and what is posted
//! then (an *errand*) holds up nothing but its own thread.
//!
//! Questions are posted from here, with buttons, because a button needs somebody who listens. All other posts go
//! through the outbox.
//!
//! What Slack's people wrote is hostile until it is one of a few words; what is posted is escaped
//! ([`carson_notify::slack::shown`]).
//!
//! # What it does not guarantee
//!
//! An answer whose post fails twice, or whose daemon ends before it is posted, is lost: what was asked for is done, and
//! `carson` shows it.
//!
//! Reading order: `verbs.rs`, `words.rs`, `heard.rs`, `inbox.rs`, `desk.rs`, `errands.rs`, `questions.rs`,
//! `answers.rs`, `tell.rs`, `socket.rs`, `upgrade.rs`, `backoff.rs`, `face.rs`.

mod answers;
mod backoff;
mod desk;
mod errands;
mod face;
mod heard;
mod inbox;
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
