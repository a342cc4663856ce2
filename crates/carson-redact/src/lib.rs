//! Takes secrets out of text before it is written anywhere or leaves the house.
//!
//! # Theory of operation
//!
//! A [`Redactor`] is a cheap handle; its clones share what they know. It is made once per process,
//! learns the exact values that Carson itself holds, and stands in every sink: the log, the
//! transcript, the rows, the forge, the chat and the terminal.
//!
//! One Aho-Corasick automaton finds *anchors*: the first bytes of every form in which a known value
//! travels (plain, JSON, JSON in JSON, URL, base64 in its three alignments, hexadecimal), and the
//! prefixes or names by which well-known credentials are recognised. Only at an anchor a rule looks
//! at what stands around it and says which bytes go. The cost is one pass, whatever the number of
//! secrets and rules. What goes becomes `[redacted:RULE]`, which has no character that JSON or a
//! shell gives a meaning: a redacted line of JSON is still one.
//!
//! - [`Redactor::redact`] for a text that is there as a whole;
//! - [`Redactor::stream`] for output that comes in pieces: bounded memory, and what is split over
//!   pieces or lines is found too;
//! - [`Redactor::find`] says where and which, for the gate before a push.
//!
//! The rules are those that the widely used public rule sets agree on (gitleaks, MIT; the issuers'
//! own documentation). Taking out ordinary text is a defect too: a rule wants the exact form, or a
//! value that looks random; what merely has high entropy is [`suspicious`], and only worth a warning.
//!
//! Reading order: `redactor.rs`, `scan.rs`, `known.rs`, `rules/`, `stream.rs`.

mod known;
mod random;
mod redactor;
mod rules;
mod runs;
mod scan;
mod stream;

pub use random::suspicious;
pub use redactor::{Finding, Redactor};
pub use rules::{KNOWN, rule_names};
pub use stream::Stream;
