//! What leaves the house: chat posts.
//!
//! # Theory of operation
//!
//! A [`Message`] is what a person reads, without any chat's own syntax; a [`Sink`] is where it
//! goes. Posting answers with what the outbox needs to know: it arrived (under which name), it may
//! be tried again (and when), or it never will. Nothing here waits or retries: the outbox does.
//!
//! [`Message::redacted`] is what may leave: `carson-redact` takes the secrets out.

mod message;
mod sink;

pub use message::Message;
pub use sink::{Place, PostError, Posted, Sink};
