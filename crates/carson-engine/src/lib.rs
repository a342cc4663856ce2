//! Agent CLIs: argv and environment in, typed events out.
//!
//! # Theory of operation
//!
//! An [`Engine`] is one installed CLI. [`Engine::run`] starts one *session* of it (one
//! invocation), stays with it to the end, and answers with a [`SessionEnd`]: how it ended, its
//! final text, what it used, which calls were denied. The raw output is written line by line to a
//! transcript as it comes; the typed [`Event`]s are for whoever watches.
//!
//! Each engine is one file in `adapters/`: how the CLI is told what it may do, how its output is
//! read, and what is known of its versions and its sign-in. What was measured of Claude Code stands in
//! `adapters/claude/`: an API error arrives as `subtype: "success"` with `is_error: true`, so the
//! subtype alone is never believed; a provider limit arrives with its reset time; hooks fail open, so
//! the hook's own answer is what counts; project settings run code, so they are not loaded.
//!
//! `command` runs any program with the prompt on its standard input. `rehearsal` plays a script,
//! through the same process, hook and event paths as a real CLI: it is how `carson demo` and the
//! tests show every end that a session can have.
//!
//! What a provider's refusal means stands in `rules`: a versioned file per CLI says which events
//! are a limit, a missing sign-in, or worth another try. Nothing a model says is read there.
//!
//! What a session does too much of, whichever CLI it is, ends it on these events (`leash.rs`): more tool
//! calls than it may have, and the same call with the same result again and again.
//!
//! Reading order: `session.rs` (the words), `engine.rs`, `adapter.rs`, `drive.rs`, then one adapter.

mod adapter;
mod adapters;
mod cli;
mod drive;
mod engine;
mod error;
mod installed;
mod leash;
mod not_ready;
mod open_calls;
mod price;
mod readable;
mod reader;
mod ready;
pub mod rehearsal;
pub mod rules;
mod rules_reader;
mod said;
mod session;
mod short_call;
pub mod sign_in;
mod transcript;
mod variables;
mod version;
mod versions;

pub use adapters::{cli, tells_denials};
pub use cli::Cli;
pub use drive::added_environment;
pub use engine::Engine;
pub use error::EngineError;
pub use installed::{installed, named_clis};
pub use not_ready::NotReady;
pub use price::{dearest, estimate};
pub use readable::readable;
pub use rules::resets_at;
pub use said::Said;
pub use session::{
    Access, Behind, Denied, Ended, Event, Hook, Limit, LimitKind, ServerCommand, Servers, Session,
    SessionEnd,
};
pub use version::Version;
pub use versions::{DATED, Drift};
