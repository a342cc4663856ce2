//! A fresh checkout of a commit that a session made.

use std::path::PathBuf;

use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};

use crate::git::{Git, run_here};
use crate::oid::Oid;

/// Checks a commit out into a new worktree of a repository that Carson made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checkout {
    /// The repository.
    pub repository: PathBuf,
    /// The worktree; it is not there yet.
    pub tree: PathBuf,
    /// The branch that it is on.
    pub branch: String,
    /// The commit.
    pub commit: Oid,
}

impl Question for Checkout {
    const NAME: &'static str = "checkout";
    type Answer = ();

    fn answer(self) -> Result<(), String> {
        let add = Git::new(&self.repository, "worktree");
        let add = add.args(["add", "--quiet", "--no-track", "-b", &self.branch, "--"]);
        run_here(add.arg(&self.tree).arg(self.commit.as_str())).map(drop)
    }
}
