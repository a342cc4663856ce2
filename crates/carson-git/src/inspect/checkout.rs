//! A fresh checkout of a commit that a session made.

use std::path::PathBuf;

use carson_proc::inspector::Question;
use git2::Repository;
use serde::{Deserialize, Serialize};

use super::changed_tests::{ChangedTest, lay_over};
use crate::force::{attributes_differ, force};
use crate::git::{Git, run_here};
use crate::oid::Oid;

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
    /// The commit that the tree has already, as nobody has written there, with an index that says so, and the branch
    /// at the commit: only what differs is written.
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
            let repo = Repository::open_bare(&self.repository);
            let commits = (base.git2(), self.commit.git2());
            let differ = |repo: Repository| attributes_differ(&repo, commits.0, commits.1);
            let own = self.repository.join("worktrees").join(&self.name);
            let all = force(&own, &self.tree, repo.map_or(true, differ));
            return all.into_iter().try_for_each(|git| run_here(git).map(drop));
        }
        let add = Git::new(&self.repository, "worktree").with_workers();
        let add = add.args(["add", "--quiet", "--no-track", "-b", &self.branch, "--"]);
        run_here(add.arg(&self.tree).arg(self.commit.as_str())).map(drop)
    }
}
