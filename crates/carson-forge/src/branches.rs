//! What git knows of branches, for a forge that holds none.

use std::fmt::Debug;

use crate::answer::Answer;
use crate::pull_words::{ChangedFile, Committed, Mergeability};

/// Who can look at the branches that a forge only knows by name.
pub trait Branches: Debug + Send + Sync {
    /// A branch against its base, as the remote has them now; `None` when one of them is gone.
    fn compare<'a>(&'a self, head: &'a str, base: &'a str) -> Answer<'a, Option<Compared>>;
}

/// A branch against its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The commit at the branch's end.
    pub sha: String,
    /// Whether it can come into its base.
    pub mergeability: Mergeability,
    /// What it changes.
    pub files: Vec<ChangedFile>,
    /// Its newest commits, the oldest of them first.
    pub commits: Vec<Committed>,
}
