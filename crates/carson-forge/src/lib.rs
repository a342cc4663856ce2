//! Where issues and pull requests live: a list of forges.
//!
//! # Theory of operation
//!
//! Issues, labels and pull requests are the state machine of the fleet and its audit trail; the
//! forge is the only thing that all hosts and all people see. Each forge answers the same few verbs
//! ([`Api`]); [`Forge`] builds queues and claims on them, so that those are the same for all.
//!
//! [`OPENERS`] is the list. A forge is one folder, which says what an operator may write about it
//! (a [`Section`](carson_core::section::Section) of carson.toml becomes a checked [`Spec`]) and how
//! a repository there is opened, and its line in the list; everybody else knows it by its name.
//! `local` keeps Markdown files with TOML front matter under `CARSON_HOME/forge/`, made to be read
//! and edited by hand. `github` speaks the REST API (and GraphQL for the one verb that REST lacks).
//! What the next REST API needs as well lies in `rest/`: bounds, pages, refusals.
//!
//! A piece of work is taken by a *claim*: a structured comment, written, then read back; the
//! earliest living one wins (`claims.rs`). That needs no lock on the far side. A claim that cannot
//! be read back is no win, and every claim that did not win, for whatever reason, is withdrawn. The
//! winner looks once more whether the issue is still ready: it may have been worked on between the
//! first look and the claim. A *release* ends a claim and says whether the attempt counts.
//!
//! Only comments by our own login are read for claims, never the text of the issue nor what
//! others comment: that was written by strangers. So all hosts of a fleet use one account. In a
//! comment of ours, what models and strangers contributed cannot look like a claim either.
//!
//! What roles of a crew tell one another stands on the forge as well. A *verdict* on a commit is the
//! first line of a review of ours (`verdicts.rs`), an issue that one role makes for another is there
//! once (`once.rs`); people approve by a comment of agreed words, or a label (`approvals.rs`).
//!
//! What a firing said can be taken back (`taken_back.rs`): its own words are known by that first line, and what
//! somebody edited since is not touched.
//!
//! A forge that holds no branches asks git about them ([`Branches`]); one that is asked over a
//! network tells the home what it learned of secrets and limits ([`Keeper`]).
//!
//! Reading order: `words.rs`, `api.rs`, `pull_words.rs`, `pull_api.rs`, `people.rs`, `forge.rs`,
//! `forge_pulls.rs`, `queue.rs`, `marks.rs`, `claims.rs`, `once.rs`, `verdicts.rs`, `approvals.rs`, `taken_back.rs`, `opener.rs`, `list.rs`, `local/`, `rest/`, `github/`.

mod answer;
mod api;
mod approvals;
mod branches;
mod claims;
mod error;
mod forge;
mod forge_pulls;
mod github;
mod keeper;
mod list;
mod local;
mod marks;
mod once;
mod opener;
mod people;
mod pull_api;
mod pull_words;
mod queue;
mod rest;
mod standing;
mod taken_back;
mod token;
mod verdicts;
mod words;

pub use answer::Answer;
pub use api::Api;
pub use branches::{Branches, Compared};
pub use carson_core::effect::Release;
pub use claims::{Claimed, History};
pub use error::ForgeError;
pub use forge::{
    DO_NOT_PICKUP, DO_NOT_REVIEW, DONE, Forge, IN_FLIGHT, NEEDS_HUMAN, PLAN_APPROVED, PLAN_PENDING,
    PLANNED, PR_OPEN, is_reserved,
};
pub use keeper::Keeper;
pub use list::{OPENERS, names};
pub use local::LocalForge;
pub use marks::{Claim, is_same_text};
pub use opener::{CheckSlug, Opener, Place, Spec};
pub use people::{Association, Trust};
pub use pull_api::{LOG_TAIL, PullApi};
pub use pull_words::{
    ChangedFile, CheckRun, Committed, Conclusion, Fate, FileStatus, Head, Linked, Links, Merge,
    MergeMethod, Mergeability, Merged, NewReview, Review, ReviewState, ShipVerdict, Thread,
};
pub use queue::{
    ForPeople, OWN_LABELS, PRIORITIES, Queue, assigned_to_a_person, priority, why_not_taken,
    why_withdrawn,
};
pub use standing::{FIRING_REQUESTS, Standing};
pub use token::TokenSource;
pub use words::{
    Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull, PullState, State, Unread,
    is_same_label,
};
