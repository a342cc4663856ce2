//! Trees of files as they are at one time, what differs between two of them, and the way back.
//!
//! [`Rules`] say which files count, a [`Look`] makes a [`Snapshot`] of them (and keeps what is in them in
//! [`Contents`]), [`Snapshot::changes`] tells two of them apart, and [`undo`] undoes that. All of it is linear in
//! the number of files and the bytes that changed, and bounded ([`Bounds`]).
//!
//! No git runs here and nothing of a repository's settings is obeyed but its ignore rules. Names are bytes. No link is
//! followed. What cannot be read (a file of somebody else, a pipe, more than a gigabyte) is told from another by what
//! the file system says of it, and named in [`Snapshot::missed`].
//!
//! What a snapshot does not have: owners, extended attributes, and that two names are one file.

mod beneath;
mod change;
mod contents;
mod entry;
mod error;
mod git_dir;
mod ignored;
mod index_file;
mod look;
mod path;
mod restore;
mod rules;
mod snapshot;
mod stat;
mod tracked;

#[cfg(test)]
mod tests;

pub use change::{Change, ChangeKind, renames};
pub use contents::Contents;
pub use entry::{Entry, Target, What};
pub use error::TreeError;
pub use git_dir::GitDir;
pub(crate) use git_dir::read_plain;
pub(crate) use index_file::Index;
pub use look::{Bounds, Look};
pub use path::TreePath;
pub use restore::undo;
pub use rules::{OWN, Rules, is_own};
pub use snapshot::{Missed, Snapshot};
