//! Where issues and pull requests live: `local` files, or GitHub.
//!
//! # Theory of operation
//!
//! Issues, labels and pull requests are the state machine of the fleet and its audit trail; the
//! forge is the only thing that all hosts and all people see. [`Forge`] has two kinds with the
//! same few verbs. `local` keeps Markdown files with TOML front matter under `CARSON_HOME/forge/`,
//! made to be read and edited by hand. `github` speaks the REST API (and GraphQL for the one verb
//! that REST lacks).
//!
//! A piece of work is taken by a *claim*: a structured comment, written, then read back; the
//! earliest living one wins. That needs no lock on the far side, so it is the same code for both
//! kinds (`claims.rs`). A claim that cannot be read back is no win, and every claim that did not
//! win, for whatever reason, is withdrawn. The winner looks once more whether the issue is still
//! ready: it may have been worked on between the first look and the claim. A *release* ends a
//! claim and says whether the attempt counts.
//!
//! Only comments by our own login are read for claims, never the text of the issue nor what
//! others comment: that was written by strangers. So all hosts of a fleet use one account. In a
//! comment of ours, what models and strangers contributed cannot look like a claim either.
//!
//! Reading order: `words.rs`, `forge.rs`, `marks.rs`, `claims.rs`, `local/`, `github/`.

mod claims;
mod error;
mod forge;
mod github;
mod local;
mod marks;
mod standing;
mod words;

pub use claims::{Claimed, History, Release};
pub use error::ForgeError;
pub use forge::{Forge, IN_FLIGHT, Queue};
pub use github::GitHubForge;
pub use local::LocalForge;
pub use marks::Claim;
pub use standing::{FIRING_REQUESTS, Standing};
pub use words::{Comment, Issue, NewIssue, NewPull, Pull, PullState, State};
