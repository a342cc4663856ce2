//! Takes secrets out of text before it is written anywhere or leaves the home.
//!
//! # Theory of operation
//!
//! A [`Redactor`] is a cheap handle; its clones share what they know. It is made once per process,
//! learns the exact values that Carson itself holds, and stands in every sink: the log, the
//! transcript, the rows, the forge, the chat and the terminal.
//!
//! *Known values* are looked for in the text as it may be read, not as it stands (`views.rs`): as it
//! is, but for line breaks; without escapes (JSON, JSON in JSON, addresses, HTML, octal), colours,
//! zeros (UTF-16) and characters that nobody sees; its letters and digits alone; as numbers (dumps,
//! lists); out of base64 and base32, also when one lies in another. Each reading hands bytes, and
//! where they are written, to an automaton (`trie.rs`) that takes one step for each. Base85 alone
//! is looked for as written: every text is base85.
//!
//! *Credentials of others* are recognised by prefixes or names, which an Aho-Corasick automaton
//! finds; there, a rule looks at what stands around it and says which bytes go. The cost is a fixed
//! number of passes, whatever the number of secrets and rules. What goes becomes `[redacted:RULE]`,
//! which has no character that JSON or a shell gives a meaning: a redacted line of JSON is still one.
//!
//! - [`Redactor::redact`] for a text that is there as a whole;
//! - [`Redactor::stream`] for output that comes in pieces: bounded memory, and what is split over
//!   pieces or lines is found too;
//! - [`Redactor::find`] says where and which, for the gate before a push;
//! - [`Redactor::pieces`] for a value of which each of several texts has a part.
//!
//! The rules are those that the widely used public rule sets agree on (gitleaks, MIT; the issuers'
//! own documentation). Taking out ordinary text is a defect too: a rule wants the exact form, or a
//! value that looks random; what merely has high entropy is [`suspicious`], and only worth a warning.
//!
//! Reading order: `redactor.rs`, `scan.rs`, `views.rs`, `unescape.rs`, `known.rs`, `recognised.rs`,
//! `rules/`, `stream.rs`.

mod coded;
mod known;
mod numbers;
mod pieces;
mod random;
mod recognised;
mod redactor;
mod rules;
mod runs;
mod scan;
mod span;
mod stream;
mod trie;
mod unescape;
mod views;
mod watch;
mod wide;

pub use pieces::Pieces;
pub use random::{looks_random, suspicious, suspicious_words};
pub use recognised::get_ready;
pub use redactor::{Finding, Redactor};
pub use rules::{KNOWN, rule_names};
pub use stream::Stream;
