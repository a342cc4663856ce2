//! A fresh checkout of a commit that a session made.

use std::path::PathBuf;

use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};

use super::changed_tests::{ChangedTest, lay_over};
use crate::git::{Git, run_here};
use crate::oid::Oid;

/// What git is told by a program that names what was written, where that is nothing: `core.fsmonitor` is a
/// line for a shell, and the rest of the line are its arguments.
pub(crate) const NOTHING_WRITTEN: &str = "printf 'carson\\0' ; :";

/// Checks a commit out into a new worktree of a repository that Carson made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checkout {
    /// The repository.
    pub repository: PathBuf,
    /// The worktree; where it begins with nothing it is not there yet.
    pub tree: PathBuf,
    /// Its name among those of the repository.
    pub name: String,
    /// The branch that it is on.
    pub branch: String,
    /// The commit.
    pub commit: Oid,
    /// The commit that the tree has already, as nobody has written there: only what differs is written.
    pub stands_on: Option<Oid>,
    /// Tests that are laid over it, and the commit that they are of.
    pub tests: Option<(Oid, Vec<ChangedTest>)>,
}

impl Question for Checkout {
    const NAME: &'static str = "checkout";
    type Answer = ();

    fn answer(self) -> Result<(), String> {
        self.check_out()?;
        match &self.tests {
            Some((from, tests)) => {
                let commits = (self.commit.git2(), from.git2());
                lay_over(&self.repository, &self.tree, commits, tests)
            }
            None => Ok(()),
        }
    }
}

impl Checkout {
    fn check_out(&self) -> Result<(), String> {
        if let Some(base) = &self.stands_on {
            // It does not look at the files that both have, and what a setup left goes out of the way.
            let read = Git::new(
                &self.repository.join("worktrees").join(&self.name),
                "read-tree",
            );
            let read = read.env("GIT_WORK_TREE", &self.tree).at(&self.tree);
            let read = read.config("core.fsmonitor", NOTHING_WRITTEN);
            let read = read.args(["--reset", "-u", base.as_str(), self.commit.as_str()]);
            return run_here(read).map(drop);
        }
        let add = Git::new(&self.repository, "worktree").with_workers();
        let add = add.args(["add", "--quiet", "--no-track", "-b", &self.branch, "--"]);
        run_here(add.arg(&self.tree).arg(self.commit.as_str())).map(drop)
    }
}
