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

    /// The names of those below a directory, which ends in `/`: in a checkout two deep, of those that were asked for
    /// all.
    pub fn below(&self, dir: &str) -> Vec<String> {
        let mut all = match self {
            Self::Checkout(root) => below(root, dir, 2),
            Self::Peeked(files) => {
                let names = files.keys().filter(|name| name.starts_with(dir));
                names.cloned().collect()
            }
        };
        all.sort();
        all
    }

    /// The checkout, where there is one: it alone has what git ignores.
    pub fn checkout(&self) -> Option<&Path> {
        match self {
            Self::Checkout(dir) => Some(dir),
            Self::Peeked(_) => None,
        }
    }
}

fn below(root: &Path, dir: &str, deep: u8) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(dir)).into_iter().flatten();
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        match entry.file_type() {
            Ok(kind) if kind.is_file() => all.push(format!("{dir}{name}")),
            Ok(kind) if kind.is_dir() && deep > 1 => {
                all.extend(below(root, &format!("{dir}{name}/"), deep - 1));
            }
            _ => {}
        }
    }
    all
}

/// Whether somebody works in this directory.
pub fn is_checkout(dir: &Path) -> bool {
    dir.join(".git").exists()
}
