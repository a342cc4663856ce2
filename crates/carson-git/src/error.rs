//! What can go wrong with git.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A git step that failed.
#[derive(Debug, Error)]
pub enum GitError {
    /// The program is missing.
    #[error("git could not be started: {0}")]
    Spawn(#[from] carson_proc::SpawnError),
    /// A command failed in a way that has no name of its own.
    #[error("git {verb} failed: {detail}")]
    Failed {
        /// Which command.
        verb: String,
        /// The end of what it said.
        detail: String,
    },
    /// A command printed more than anybody reads.
    #[error("git {verb} printed too much")]
    TooMuch {
        /// Which command.
        verb: String,
    },
    /// A command took too long.
    #[error("git {verb} did not end within its time")]
    Timeout {
        /// Which command.
        verb: String,
    },
    /// A commit, or a text, could not be signed.
    #[error("the signing key does not sign: {why}")]
    NotSigned {
        /// What its program said; it may name files of the operator's.
        why: String,
    },
    /// More commits than are signed one by one.
    #[error("the work has more than {most} commits, and each would have to be signed")]
    TooMany {
        /// How many are signed.
        most: usize,
    },
    /// The remote cannot be reached or is not a repository.
    #[error("the repository {url} cannot be read: {detail}")]
    RemoteGone {
        /// Its address.
        url: String,
        /// The end of what git said.
        detail: String,
    },
    /// The remote does not let us in.
    #[error("the repository {url} refuses us: {detail}")]
    AuthFailed {
        /// Its address.
        url: String,
        /// The end of what git said.
        detail: String,
    },
    /// The git program is older than Carson needs.
    #[error("git {found} is too old: 2.39 is needed")]
    TooOld {
        /// What is installed.
        found: String,
    },
    /// The base branch is not there.
    #[error("the repository has no branch {base:?}; it has {have:?}")]
    BaseMissing {
        /// What was wanted.
        base: String,
        /// Some of what there is.
        have: Vec<String>,
    },
    /// The remote has no commit at all.
    #[error("the repository {url} is empty")]
    Empty {
        /// Its address.
        url: String,
    },
    /// The remote's history is cut off.
    #[error("the repository {url} is a shallow clone: its history is cut off")]
    Shallow {
        /// Its address.
        url: String,
    },
    /// The remote names its objects in a way that Carson does not read.
    #[error("the repository {url} names its objects by SHA-256, and Carson reads only SHA-1")]
    Sha256 {
        /// Its address.
        url: String,
    },
    /// The branch exists already.
    #[error("branch {branch} exists already")]
    BranchExists {
        /// Its name.
        branch: String,
    },
    /// A protected branch would have been pushed.
    #[error("branch {branch} is protected: Carson does not push it")]
    Protected {
        /// Its name.
        branch: String,
    },
    /// The remote refused the push.
    #[error("the remote refused branch {branch}: {detail}")]
    PushRejected {
        /// Its name.
        branch: String,
        /// The end of what git said.
        detail: String,
    },
    /// The branch is checked out in the remote's work tree, and cannot change there.
    #[error("{path:?} has {branch} checked out, and its files cannot follow: {detail}")]
    WorkTreeChanged {
        /// Where.
        path: PathBuf,
        /// Its name.
        branch: String,
        /// The end of what git said.
        detail: String,
    },
    /// What was to be merged says otherwise than the branch.
    #[error("it conflicts with {branch}")]
    Conflict {
        /// The branch that it was to come to.
        branch: String,
    },
    /// Another process holds the mirror for too long.
    #[error("the mirror {path:?} is locked by another process")]
    Locked {
        /// The mirror.
        path: PathBuf,
    },
    /// The worktree may not be removed.
    #[error("the worktree {path:?} is not removed: {why}")]
    NotSalvaged {
        /// The worktree.
        path: PathBuf,
        /// What is not saved.
        why: String,
    },
    /// Nobody could look at what a session left.
    #[error("{path:?} could not be looked at: {source}")]
    Unseen {
        /// Its worktree, or the directory that was to be removed.
        path: PathBuf,
        /// Why.
        source: carson_proc::inspector::InspectError,
    },
    /// Reading the object database failed.
    #[error("reading {path:?} failed")]
    Read {
        /// The repository.
        path: PathBuf,
        /// What libgit2 said.
        source: git2::Error,
    },
    /// A file could not be handled.
    #[error("{path:?}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl GitError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Spawn(error) => error.hint(),
            Self::RemoteGone { .. } => "check repos.<name>.url and that git can reach it",
            Self::AuthFailed { .. } => "check the token or key that git uses for it",
            Self::TooOld { .. } => "install a newer git",
            Self::BaseMissing { .. } => "set repos.<name>.base to a branch that exists",
            Self::Empty { .. } => "push a first commit",
            Self::Shallow { .. } => {
                "run `git fetch --unshallow` there, or set repos.<name>.url to where it was cloned from"
            }
            Self::Sha256 { .. } => "use a repository that was made with --object-format=sha1",
            Self::Protected { .. } => "firings push only their own branches",
            Self::PushRejected { .. } => "look at the remote's rules and hooks",
            Self::WorkTreeChanged { .. } => {
                "commit what is changed there, or put it aside with `git stash --include-untracked`, and type the same again"
            }
            Self::Conflict { .. } => "merge that branch into it by hand, push it, and ask again",
            Self::Locked { .. } => "another firing fetches; this ends by itself",
            Self::Unseen { .. } => {
                "look into the directory; `carson prune` tries again, `carson prune --discard` gives it up"
            }
            Self::NotSalvaged { .. } => "look into the directory; `carson prune` tries again",
            _ => "run the command by hand in the mirror to see more",
        }
    }
}

pub(crate) fn io(path: &Path, source: std::io::Error) -> GitError {
    GitError::Io {
        path: path.to_owned(),
        source,
    }
}
