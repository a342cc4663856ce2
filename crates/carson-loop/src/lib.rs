//! Attempts until a check passes.
//!
//! # Theory of operation
//!
//! A loop runs a *task* until a *promise*, a command that must exit 0, is kept. Everything that is decided is pure:
//! whether another attempt may be made ([`bounds`]), whether the attempts get anywhere ([`progress`], on what
//! [`normal`] leaves of an output), what of a failure the next attempt hears ([`feedback`]), what running a loop again
//! means ([`run::begin`]). The execute stage of a firing decides by the same.
//!
//! What happened is a line in `events.jsonl`; the state is what these come to ([`fold`]), and stands beside them in a
//! file that is put in its place whole ([`journal`], [`json_file`]). So a kill at any moment leaves valid files, and whoever comes next
//! knows where the one that died was. What an attempt left is kept before its check is asked ([`checkpoint`]): a
//! snapshot of the tree ([`tree`]), each content once, with the bytes of the index; no git runs for that, and no ref moves.
//!
//! One process at a time runs a loop ([`lock`]); those that only look take no lock. A person may edit the configuration,
//! and a little of the state; that is taken over between two attempts, or ends the run with file and line. A run that finds
//! its directory gone ends, and makes none anew.
//!
//! No link leads to or from the loop's own files, whoever put it there (`own_file`).
//!
//! A program is run by [`executor`], on `carson-proc`: its time, its tree and both ends of its output are bounded.
//! Nothing here reads the process's own environment: who asks is a [`caller::Caller`].
//!
//! Reading order: [`config`], [`status`], [`state`], [`meta`], [`event`], [`fold`], `alpf_state`; [`bounds`], [`progress`], [`normal`],
//! [`feedback`]; [`run`]; [`api`]; then what they stand on: [`tree`], `own_file`, `own_git`, [`json_file`], [`lock`], [`events_file`], [`executor`].

mod alpf_state;
pub mod api;
pub mod bounds;
pub mod caller;
pub mod checkpoint;
mod compare;
pub mod config;
pub mod config_file;
pub mod digest;
pub mod error;
pub mod event;
pub mod events_file;
pub mod executor;
mod executor_version;
pub mod feedback;
pub mod fence;
pub mod fold;
mod head;
mod index;
pub mod journal;
pub mod json_file;
pub mod lock;
mod mark;
pub mod meta;
pub mod normal;
pub mod output;
mod output_file;
mod own_file;
mod own_git;
pub mod place;
pub mod progress;
mod rollback;
pub mod run;
pub mod state;
pub mod status;
mod stop_file;
pub mod stories;
mod syncer;
pub mod tree;
pub mod walls;
pub mod words;
