//! One supervised child tree: the only place where Carson starts a process.
//!
//! # Theory of operation
//!
//! [`run`] starts a program in a process group of its own and stays with it to the end. While it
//! runs, its output is handed on line by line and kept in bounded memory ([`Captured`]: head and
//! tail); its deadlines (total and silence), its output cap and a [`Cancel`] handle are watched by
//! one loop. Any of them ends it the same way: SIGTERM to the group, a grace period, SIGKILL to
//! the group, then a sweep.
//!
//! The sweep is there because a process group is not enough: agent CLIs start their tools in
//! sessions of their own, and these survive. Every child gets a marker in its environment; the
//! sweep walks the process table for the marker, for the group, for descendants of either and,
//! when we are their subreaper, for orphans that were handed to us. It kills until a whole pass
//! finds nothing, for at most five seconds; who is born during a pass is looked at by its number,
//! so that a chain of short lives does not run away from it. The dead among the orphans are reaped. It never touches a process of another `run`: what
//! carries another marker of ours is left alone, and an orphan without any is left to the last
//! `run` that can have started it.
//!
//! The end is the *child's* end, not the end of its output: a grandchild that holds a pipe open
//! costs a short drain and no more. A future that is dropped half-way kills its tree too.
//!
//! A firing must outlive its daemon: [`spawn_detached`] ties nothing to our life, and
//! [`ProcessId`] finds the process again, whatever happened to its number. [`reap_marked`] finds
//! what a dead firing left behind by a marker of the caller's own.
//!
//! # What is not guaranteed
//!
//! A process that clears its environment, leaves the group and was not handed to us (no
//! subreaper, or macOS) can escape the sweep; only a cgroup closes that. Neither can a process be
//! ended that runs as somebody else or that the kernel does not let go: it is reported in the
//! log. The death of our own process is the caller's matter: nothing here dies with us.
//!
//! No `pre_exec` is used, so that the standard library can `posix_spawn`: with `pre_exec` it
//! forks, which costs 33 ms at 1 GB of resident memory.
//!
//! Reading order: [`Command`], [`Limits`], `run.rs`, `watch.rs`, `sweep.rs`, `kill_until_none.rs`,
//! `kill_fast_forkers.rs`, `marker.rs`, `children.rs`, then [`ProcessId`] and [`Detached`];
//! [`sandbox`] is a world of its own.

mod cancel;
mod captured;
mod children;
mod command;
mod detached;
mod error;
mod finished;
mod gives_way;
mod group;
mod hang_ups;
pub mod inspector;
mod kill_fast_forkers;
mod kill_until_none;
mod limits;
mod lines;
mod marker;
mod names;
mod own;
mod path;
mod pipes;
mod process_id;
mod process_space;
mod run;
pub mod sandbox;
mod sweep;
mod table;
#[cfg(test)]
mod testing;
mod watch;

pub use cancel::Cancel;
pub use captured::Captured;
pub use children::become_subreaper;
pub use command::{Command, Confined, Env, Output, Stdin};
pub use detached::{Detached, spawn_detached, spawn_detached_to};
pub use error::SpawnError;
pub use finished::{Exit, Finished, StopReason};
pub use gives_way::GivesWay;
pub use hang_ups::{HangUps, outlive_hang_ups};
pub use limits::{Ask, Limits};
pub use lines::{Line, Stream};
pub use marker::{kill_orphans, marked_processes, reap_marked, reap_marked_or_locking};
pub use names::look_names_up_alone;
pub use own::{own_path, own_program, sessions_write};
pub use path::find_on_path;
pub use process_id::ProcessId;
pub use process_space::{ProcessSpace, Sight, boot_id};
pub use run::{capture, converse, run};
