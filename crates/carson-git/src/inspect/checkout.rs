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
    /// Whether the tree is that of the base already, with an index that says so, and the branch at the commit:
    /// only what differs is written.
    pub stands_on_base: bool,
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
        if self.stands_on_base {
            // It looks at no file and no directory that both have, and what a setup left goes out of the way.
            let own = self.repository.join("worktrees").join(&self.name);
            let force = Git::new(&own, "checkout").args(["--force", "--quiet"]);
            let force = force.env("GIT_WORK_TREE", &self.tree).at(&self.tree);
            return run_here(force.config("core.fsmonitor", NOTHING_WRITTEN)).map(drop);
        }
        let add = Git::new(&self.repository, "worktree").with_workers();
        let add = add.args(["add", "--quiet", "--no-track", "-b", &self.branch, "--"]);
        run_here(add.arg(&self.tree).arg(self.commit.as_str())).map(drop)
    }
}
