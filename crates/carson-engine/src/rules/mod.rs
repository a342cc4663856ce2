//! What a provider's refusal means, by a versioned rule file per CLI (`rules/*.toml`).
//!
//! # The files
//!
//! `version` and `dated` say which rules these are, `remedy` what a person does about a sign-in.
//! `[[evidence]]` names the events that count, in the order in which they are believed: `when` is
//! a table of JSON pointers and the values they must have; `message`, `code`, `status`, `epoch`
//! and `retry_after` are pointers to what is read from such an event. One that is `pending` is
//! forgotten when anything follows it. Of each kind the newest counts. `[[rule]]`s are tried in
//! their order on one piece of evidence after the other: all that a rule names must hold (`on`,
//! `status`, `exit`, one of `text`, where `*` stands for anything and case does not matter). Each says
//! where its words come from, and when that was (`source`, `seen`). `[calls]` names
//! the events that are tool calls and, by pointers, what each was asked with and what came back: of both
//! only a hash is kept. `[calls.denied]` says which of them were stopped, and whether the hook did it. `asks_again` is
//! for a CLI that tells on standard error alone that it waits for its provider: where it is stopped while it waits,
//! that is the evidence (`on = ["waiting"]`).
//!
//! # What a model says is no evidence
//!
//! A model may quote every one of these texts. So prose is never looked at: only events that the
//! CLI itself makes of a refusal, and the end of standard error where the session said nothing
//! (`quiet` lists the events that do not count as saying something).
//!
//! Reading order: `file.rs` (the format), `facts.rs` (what is kept of a session), `classify`. What a provider's own
//! headers say, where a proxy saw them, is `headers.rs`.

mod class;
mod classify;
mod ends;
mod facts;
mod file;
mod headers;
mod reset;

pub use class::Class;
pub use classify::{Verdict, classify};
pub use facts::Facts;
pub use file::RuleFile;
pub use headers::resets_at;

pub(crate) use ends::failure;
pub(crate) use file::{Calls, Refused, Rules, holds};

#[cfg(test)]
mod tests;
