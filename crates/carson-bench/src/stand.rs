//! What one workspace stands on.

use std::path::PathBuf;

use carson_proc::sandbox::Marks;

/// What one workspace stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// Where sessions see the worktree.
    pub seen_tree: PathBuf,
    /// Where they see their home, when that is the same place for all workspaces of the repository.
    pub seen_home: Option<PathBuf>,
    /// The checkout below the worktree, the topmost first.
    pub trees: Vec<PathBuf>,
    /// What the repository's setup left above it: a worktree and a home.
    pub setup: Option<Left>,
    /// Downloads of the operator's: where each lies below a home, and what is below it there.
    pub caches: Vec<(&'static str, PathBuf)>,
    /// The index of the checkout.
    pub index: PathBuf,
    /// In which form the kernel leaves its marks.
    pub marks: Marks,
    /// Whether directories from below can be renamed in one step.
    pub renames: bool,
}

/// What a setup left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// In the worktree.
    pub tree: PathBuf,
    /// In the home.
    pub home: PathBuf,
}

impl Stand {
    /// Everything below the worktree, the topmost first.
    pub(crate) fn all_trees(&self) -> Vec<PathBuf> {
        let left = self.setup.iter().map(|left| left.tree.clone());
        left.chain(self.trees.iter().cloned()).collect()
    }

    /// The same without what the setup left.
    #[must_use]
    pub fn without_setup(self) -> Self {
        Self {
            setup: None,
            ..self
        }
    }
}
