//! What leaves the home: chat posts and webhooks.
//!
//! # Theory of operation
//!
//! A [`Message`] is what a person reads, without any chat's own syntax; a [`Notice`] is a message
//! with what the outbox knows of it; a [`Sink`] is where it goes. Posting answers with what the
//! outbox needs to know: it arrived (under which name), it may be tried again (and when), or it
//! never will. Nothing here waits or retries: the outbox does.
//!
//! [`SINKS`] is the list. A sink is one file, which says what an operator may write about it
//! (a [`Section`](carson_core::section::Section) of carson.toml becomes a checked [`Spec`]) and how it posts. The settings
//! read their keys, their schema and their checks from the list; everybody else knows a sink by its
//! name, which stands in the outbox's rows.
//!
//! Slack is also a place where people are listened to: [`Chat`] is what the settings say of that, and
//! `carson-chat` does it.
//!
//! [`Message::redacted`] is what may leave: `carson-redact` takes the secrets out.
//!
//! Reading order: `message.rs`, `sink.rs`, `section.rs`, `list.rs`, `webhook.rs` (the smallest sink),
//! `slack/`.

mod address;
mod chat;
mod http;
mod list;
mod message;
mod ntfy;
mod section;
mod sink;
pub mod slack;
#[cfg(test)]
mod testing;
mod webhook;

pub use chat::Chat;
pub use list::{SINKS, spec};
pub use message::Message;
pub use section::{Daily, ReadSecret, SinkKind, Spec};
pub use sink::{Asking, Notice, NoticeKind, Place, PostError, Posted, Posting, Sink};
