//! Repositories in the working directory. What stands in one's settings may run whenever somebody uses git there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Entries of directories that are looked at.
const MOST: usize = 200_000;
/// How many are named.
const NAMED: usize = 50;

/// What lies below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Every `.git`, and every directory that git takes for a repository by what is in it.
    pub repositories: BTreeSet<PathBuf>,
    /// Whether there was more than was looked at.
    pub cut: bool,
}

/// The repositories below a directory, itself among them.
#[must_use]
pub fn below(root: &Path) -> Below {
    let mut found = Below::default();
    let (mut todo, mut left) = (vec![root.to_owned()], MOST);
    while let Some(dir) = todo.pop() {
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        let mut names: Vec<OsString> = Vec::new();
        for entry in entries {
            if left == 0 {
                found.cut = true;
                return found;
            }
            left -= 1;
            let name = entry.file_name();
            if name.eq_ignore_ascii_case(".git") {
                found.repositories.insert(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            }
            names.push(name);
        }
        if is_repository(&names) {
            found.repositories.insert(dir);
        }
    }
    found
}

/// Whether git takes a directory with these entries for a repository: a HEAD, and objects and refs of
/// its own or of the one that `commondir` names (`is_git_directory` in git's setup.c).
fn is_repository(names: &[OsString]) -> bool {
    let has = |name: &str| names.iter().any(|own| own.eq_ignore_ascii_case(name));
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

impl Below {
    /// What is said of what came since another look.
    #[must_use]
    pub fn told_since(&self, before: &Self, root: &Path) -> Option<String> {
        let new: Vec<&PathBuf> = self.repositories.difference(&before.repositories).collect();
        if new.is_empty() {
            return self.cut.then(|| {
                format!(
                    "new repositories are not looked for among more than {MOST} files: what is set in one may run \
                     when you use git there"
                )
            });
        }
        let names = new.iter().take(NAMED).map(|path| {
            let below = path.strip_prefix(root).unwrap_or(path);
            match below.as_os_str().is_empty() {
                true => ".".to_owned(),
                false => below.to_string_lossy().into_owned(),
            }
        });
        let names: Vec<String> = names.collect();
        let more = match new.len().saturating_sub(NAMED) {
            0 if self.cut => " and perhaps more".to_owned(),
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "new repositories: {}{more}; what is set there may run when you use git in them: look at them first, \
             or remove them",
            names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_came_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("a/.git/.git")).unwrap();
        let before = below(root);
        assert_eq!(before.repositories.len(), 1);
        assert_eq!(before.told_since(&before, root), None);
        std::fs::create_dir_all(root.join("b/c")).unwrap();
        std::fs::write(root.join("b/c/.git"), "gitdir: x").unwrap();
        let told = below(root).told_since(&before, root).unwrap();
        assert!(told.contains("b/c/.git;"), "{told}");
    }

    #[test]
    fn a_directory_that_git_takes_for_one_is_one_whatever_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let before = below(root);
        for made in ["docs/objects", "docs/refs", "worktree", "data/objects"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        for file in [
            "docs/HEAD",
            "worktree/HEAD",
            "worktree/commondir",
            "data/HEAD",
        ] {
            std::fs::write(root.join(file), "ref: refs/heads/main").unwrap();
        }
        let after = below(root);
        let named = [root.join("docs"), root.join("worktree")];
        assert_eq!(after.repositories, BTreeSet::from(named));
        assert!(
            after
                .told_since(&before, root)
                .unwrap()
                .contains("docs, worktree;")
        );
    }

    #[test]
    fn decoys_hide_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let before = below(root);
        for n in 0..NAMED + 2 {
            std::fs::create_dir_all(root.join(format!("a{n:03}/.git"))).unwrap();
        }
        let told = below(root).told_since(&before, root).unwrap();
        assert!(told.contains("a049/.git and 2 more;"), "{told}");
    }
}
