//! Mirrors, worktrees, snapshots, salvage.
//!
//! # Theory of operation
//!
//! Carson never works in the operator's checkout. It keeps a bare clone of each repository, the
//! [`Mirror`]; what the remote has lies under `refs/remotes/origin/*`, the firings' own branches
//! under `refs/heads/carson/*`, and kept work under `refs/carson/salvage/*`. A firing gets a
//! throwaway [`Worktree`] of the mirror.
//!
//! libgit2 *reads and judges* (refs, ancestry, blobs); the `git` program *writes*, through the one
//! wrapper in `git.rs`: fixed overrides, no hooks, no prompts, no stdin, a deadline on every call.
//! libgit2 runs no filters, so a tree it wrote could hold content that git would not.
//!
//! Nothing in the worktree is trusted, least of all its `.git` file: every command names the
//! mirror as its git directory and the worktree's path as its work tree. A [`snapshot`] is made
//! with an index file of our own, so a lock that a killed tool left behind does not matter; it
//! takes up what is staged, what is changed, and what is untracked but not ignored, and it joins
//! commits on which HEAD strayed away from the branch.
//!
//! [`Worktree::is_salvaged`] is the only gate to removal: the files must equal a saved tree, and
//! the branch must be at its base, pushed, or under a kept ref. A nested repository that git cannot
//! take up keeps the directory where it is.
//!
//! Reading order: `mirror.rs`, `worktree.rs`, `snapshot.rs`, `salvaged.rs`.
//!
//! [`snapshot`]: Worktree::snapshot

mod branch;
mod error;
mod git;
mod mirror;
mod oid;
mod salvaged;
mod snapshot;
mod worktree;

pub use branch::{branch_name, is_protected};
pub use error::GitError;
pub use mirror::{Mirror, Pushed};
pub use oid::Oid;
pub use salvaged::Salvaged;
pub use worktree::{DiffText, TreeFacts, Worktree};
