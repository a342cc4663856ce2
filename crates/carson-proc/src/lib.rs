//! One supervised child tree: the only place where Carson starts a process.
//!
//! # Theory of operation
//!
//! [`run`] starts a program in a process group of its own and stays with it to the end. While it
//! runs, its output is read line by line and kept in bounded memory ([`Captured`]: head and
//! tail); its deadlines (total and silence), its output cap and a [`Cancel`] handle are watched by
//! one loop. Any of them ends it the same way: SIGTERM to the group, a grace period, SIGKILL to
//! the group, then a sweep.
//!
//! The sweep is there because a process group is not enough: agent CLIs start their tools in
//! sessions of their own, and these survive. Every child gets a marker in its environment; the
//! sweep looks through the process table for the marker, for the group, for descendants of
//! either, and (when we are their subreaper) for orphans that were handed to us, and kills until
//! a whole pass finds nothing. It is bounded, and it never touches a process of another `run`.
//!
//! The end is the *child's* end, not the end of its output: a grandchild that holds a pipe open
//! costs a short drain and no more.
//!
//! What is not guaranteed: a process that clears its environment, leaves the group and was not
//! handed to us (no subreaper) can escape the sweep; a cgroup is what closes that.
//!
//! No `pre_exec` is used, so that the standard library can `posix_spawn`: with `pre_exec` it
//! forks, which costs 33 ms at 1 GB of resident memory.
//!
//! Reading order: [`Command`], [`Limits`], `run.rs`, `sweep.rs`, [`ProcessId`], [`Detached`].

mod cancel;
mod captured;
mod command;
mod detached;
mod error;
mod limits;
mod path;
mod process_id;
mod run;
mod sweep;
mod table;

pub use cancel::Cancel;
pub use captured::Captured;
pub use command::{Command, Env, Stdin};
pub use detached::{Detached, spawn_detached};
pub use error::SpawnError;
pub use limits::Limits;
pub use path::find_on_path;
pub use process_id::ProcessId;
pub use run::{Exit, Finished, Line, StopReason, Stream, capture, run};
pub use sweep::{become_subreaper, reap_marked};
