//! What leaves the house: chat posts, and the redaction that everything passes first.
//!
//! # Theory of operation
//!
//! A [`Message`] is what a person reads, without any chat's own syntax; a [`Sink`] is where it
//! goes. Posting answers with what the outbox needs to know: it arrived (under which name), it may
//! be tried again (and when), or it never will. Nothing here waits or retries: the outbox does.
//!
//! [`Redactor`] takes secrets out of text: the exact values that Carson itself holds, in the
//! forms in which they travel, and everything that has the shape of a well-known credential.

mod message;
mod redact;
mod shapes;
mod sink;

pub use message::Message;
pub use redact::Redactor;
pub use sink::{Place, PostError, Posted, Sink};
