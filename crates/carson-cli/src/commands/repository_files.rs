//! A few files of a repository, by which `carson init` proposes what its settings say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where they are read.
#[derive(Debug)]
pub enum RepositoryFiles {
    /// In somebody's checkout.
    Checkout(PathBuf),
    /// They were asked for, and these are there.
    Peeked(BTreeMap<String, String>),
}

impl RepositoryFiles {
    /// The text of one, if it is there.
    pub fn text(&self, name: &str) -> Option<String> {
        match self {
            Self::Checkout(dir) => std::fs::read_to_string(dir.join(name)).ok(),
            Self::Peeked(files) => files.get(name).cloned(),
        }
    }

    /// Whether one is there.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Checkout(dir) => dir.join(name).is_file(),
            Self::Peeked(files) => files.contains_key(name),
        }
    }

    /// The checkout, where there is one: it alone has what git ignores.
    pub fn checkout(&self) -> Option<&Path> {
        match self {
            Self::Checkout(dir) => Some(dir),
            Self::Peeked(_) => None,
        }
    }
}

/// Whether somebody works in this directory.
pub fn is_checkout(dir: &Path) -> bool {
    dir.join(".git").exists()
}
