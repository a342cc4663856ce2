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
    /// What is below the worktree, the topmost first.
    pub trees: Vec<PathBuf>,
    /// What is below the home, the topmost first.
    pub homes: Vec<PathBuf>,
    /// Downloads of the operator's: where each lies below a home, and what is below it there.
    pub caches: Vec<(&'static str, PathBuf)>,
    /// The index of the checkout.
    pub index: PathBuf,
    /// In which form the kernel leaves its marks.
    pub marks: Marks,
}
