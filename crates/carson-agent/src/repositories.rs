//! Repositories in the working directory. What stands in one's settings may run whenever somebody uses git there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Entries of directories that are looked at.
const MOST: usize = 200_000;

/// The `.git` of every repository that lies below a directory, itself among them.
#[must_use]
pub fn below(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let (mut todo, mut left) = (vec![root.to_owned()], MOST);
    while let Some(dir) = todo.pop() {
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        for entry in entries {
            if left == 0 {
                return found;
            }
            left -= 1;
            if entry.file_name().eq_ignore_ascii_case(".git") {
                found.insert(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            }
        }
    }
    found
}

/// What is said of those that came during the run.
#[must_use]
pub fn told(root: &Path, new: &BTreeSet<PathBuf>) -> Option<String> {
    const NAMED: usize = 5;
    let names = new.iter().take(NAMED).map(|path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        below.to_string_lossy().into_owned()
    });
    let names: Vec<String> = names.collect();
    let more = match new.len() > NAMED {
        true => " and more",
        false => "",
    };
    (!new.is_empty()).then(|| {
        format!(
            "new repositories: {}{more}; what is set there may run when you use git in this directory: look at \
             them first, or remove them",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_came_are_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/.git/.git")).unwrap();
        let before = below(dir.path());
        assert_eq!(before.len(), 1);
        assert_eq!(told(dir.path(), &BTreeSet::new()), None);
        std::fs::create_dir_all(dir.path().join("b/c")).unwrap();
        std::fs::write(dir.path().join("b/c/.git"), "gitdir: x").unwrap();
        let new: BTreeSet<_> = below(dir.path()).difference(&before).cloned().collect();
        assert!(told(dir.path(), &new).unwrap().contains("b/c/.git;"));
    }
}
