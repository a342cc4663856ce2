//! In the place of ralph-loop's `ralph.sh` (github.com/sebastianspicker/ralph-loop): its words, variables, files and codes.
//!
//! Its state stands in `.runtime/` beside the PRD, never in `.carson/`. What is stricter than there: files are told apart
//! by nanoseconds, a lock of somebody else's process is not stolen, an event is one line, no link in the place of its own files is
//! followed, and processes that a tool leaves behind are ended, for which this process must be a subreaper
//! ([`carson_proc::become_subreaper`]).
//!
//! Reading order: `settings.rs` (what is said), `prd/` and `read.rs` (what is to be done), `run.rs`,
//! `beforehand.rs`, `one_story.rs`, `tool.rs`, `scope.rs`, `records.rs`.

mod archive;
mod beforehand;
mod branch;
mod checks;
mod contract;
mod ended;
mod events;
mod failures;
mod helpers;
mod learnings;
mod lock;
mod one_story;
mod pattern;
mod place;
mod prd;
mod preflight;
mod progress;
mod prompt;
mod read;
mod records;
mod redact;
mod references;
mod report;
mod run;
mod scope;
mod settings;
mod standing;
mod state;
mod tool;
mod usage;
mod voice;

pub use prd::{Prd, Story};
pub use read::findings;
pub use run::{Given, run};
pub use standing::{Standing, standing};
pub use voice::To;
