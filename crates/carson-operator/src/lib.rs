//! What an operator asks and does, as data.
//!
//! # Theory of operation
//!
//! An operator's verb is an [`Ask`]: a value that says what is wanted, who may want it, and how it is
//! answered from a [`Home`](carson_home::Home), with a value or with a [`Refusal`] that
//! says what to do next. Nothing here reads a command line or prints: the terminal, a page, a chat and
//! a protocol are faces of the same verbs, and what one of them can do the others can.
//!
//! [`VERBS`] is the list. A face that knows the verb uses its type
//! (`block::Set { … }.answer(&home)`); one that does not goes over the list, which has for each
//! verb its name, its line, who may ask, the JSON schema of the ask, and a function from JSON to JSON.
//!
//! Names, durations and ids come as they were typed; the answer finds them or says what there is.
//! What would change a stop is a [`Change`](carson_core::stops::Change): each face shows it its way.
//!
//! # What is no verb
//!
//! What is about one terminal or one machine stays in `carson-cli`: `init` and `demo` make a home where
//! there is none, `config` reads settings that may be wrong before there is a fleet, `doctor` examines
//! a machine that may have neither, `backup restore` needs a database that nobody has open, `daemon`
//! and `firing run` *are* the process, `sandbox` and `hook` try walls and rules on this machine,
//! `completions` is for a shell, `rehearsal` for the engine of that name.
//!
//! Reading order: `verb.rs`, `refusal.rs`, `breaker.rs` (a plain verb), `list.rs`, `why.rs`.

pub mod approve;
pub mod backup;
pub mod block;
pub mod breaker;
pub mod brief;
pub mod cost;
pub mod engines;
pub mod events;
pub mod fire;
pub mod firings;
pub mod health;
pub mod hosts;
pub mod issue_edits;
pub mod issues;
pub mod labels;
mod list;
pub mod logs;
pub mod memory;
pub mod metrics;
pub mod names;
pub mod outcomes;
mod papers;
pub mod pause;
pub mod plans;
pub mod prune;
pub mod pull_ends;
pub mod pull_reviews;
pub mod pulls;
pub mod queue;
pub mod quiet;
mod refusal;
pub mod retry;
pub mod roles;
pub mod shipped;
pub mod show;
mod since;
pub mod status;
pub mod stop;
pub mod tally;
pub mod timeline;
mod told;
pub mod transcript;
pub mod trust;
pub mod undo;
pub mod usage;
mod verb;
pub mod why;
pub mod windows;
pub mod workspaces;

pub use carson_firing::daemons;
pub use list::VERBS;
pub use refusal::Refusal;
pub use verb::{Answering, Ask, Verb, Who};

#[cfg(test)]
mod tests;
