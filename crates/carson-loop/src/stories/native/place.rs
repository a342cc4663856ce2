//! Where a plan is, the tree that its stories work in, and the files of runs.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::StoriesError;
use crate::json_file::{Sync, write_bytes};
use crate::own_file;
use crate::tree::{GitDir, TreePath};

/// All paths of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The top of the tree.
    pub root: PathBuf,
    /// The plan's file.
    pub plan: PathBuf,
}

impl Place {
    /// Finds them. The tree is the repository that the plan is in; without one the directory of whoever asks, where the plan
    /// is in it, or the plan's. Whoever asks from `/` does not mean the whole machine.
    ///
    /// # Errors
    /// When the plan is not there, or the tree would be the whole machine.
    pub fn find(plan: &Path, root: Option<&Path>, cwd: &Path) -> Result<Self, StoriesError> {
        let io = |path: &Path| StoriesError::io(path);
        let plan = plan.canonicalize().map_err(io(plan))?;
        let cwd = cwd.canonicalize().map_err(io(cwd))?;
        let beside = plan.parent().unwrap_or(Path::new("/")).to_owned();
        let root = match root {
            Some(root) => root.canonicalize().map_err(io(root))?,
            None => GitDir::of(&beside).map(|git| git.top).unwrap_or_else(|| {
                match plan.starts_with(&cwd) && cwd.parent().is_some() {
                    true => cwd,
                    false => beside,
                }
            }),
        };
        match root.parent() {
            Some(_) => Ok(Self { root, plan }),
            None => Err(StoriesError::NoTree { root }),
        }
    }

    /// The plan's name in events: its path from the top of the tree, or all of it.
    #[must_use]
    pub fn name(&self) -> String {
        match self.plan_in_tree() {
            Some(path) => path.to_string(),
            None => self.plan.display().to_string(),
        }
    }

    /// The plan from the top of the tree, where it is in it.
    #[must_use]
    pub fn plan_in_tree(&self) -> Option<TreePath> {
        let path = self.plan.strip_prefix(&self.root).ok()?;
        TreePath::new(path.as_os_str().as_encoded_bytes()).ok()
    }

    /// The directory of Carson's own files in the tree.
    #[must_use]
    pub fn own(&self) -> PathBuf {
        self.root.join(".carson")
    }

    /// The directory of runs.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.own().join("stories")
    }

    /// What happened.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.dir().join("events.jsonl")
    }

    /// Held by the one run that there is.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.dir().join("lock")
    }

    /// What everything has open that a run starts.
    #[must_use]
    pub(crate) fn mark(&self) -> PathBuf {
        self.dir().join("mark")
    }

    /// Contents of files as they were.
    #[must_use]
    pub fn contents(&self) -> PathBuf {
        self.dir().join("contents")
    }

    /// The tree before the attempt that runs.
    #[must_use]
    pub fn before(&self) -> PathBuf {
        self.dir().join("before.json")
    }

    /// What is kept of attempts.
    #[must_use]
    pub fn attempts(&self) -> PathBuf {
        self.dir().join("attempts")
    }

    /// The files that there are of an attempt.
    #[must_use]
    pub fn files_of(&self, story: &str, attempt: u32) -> Vec<PathBuf> {
        let first = format!("{story}-{attempt}.");
        let items = fs::read_dir(self.attempts()).into_iter().flatten();
        let of_it = items
            .filter_map(Result::ok)
            .filter(|item| item.file_type().is_ok_and(|kind| kind.is_file()))
            .filter(|item| item.file_name().to_string_lossy().starts_with(&first));
        of_it.map(|item| item.path()).collect()
    }

    /// A file of an attempt that is not there yet: `S-1-2.patch`.
    #[must_use]
    pub fn new_file(&self, story: &str, attempt: u32, kind: &str) -> PathBuf {
        let dir = self.attempts();
        let first = dir.join(format!("{story}-{attempt}.{kind}"));
        // The same story of another plan may have had one.
        let others = (2..1000).map(|more| dir.join(format!("{story}-{attempt}.{more}.{kind}")));
        let mut all = [first.clone()].into_iter().chain(others);
        all.find(|path| path.symlink_metadata().is_err())
            .unwrap_or(first)
    }

    /// Takes away what stands in the place of one of the directories and is none: an executor's link leads what we write
    /// elsewhere.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn clear(&self) -> Result<(), StoriesError> {
        for path in [self.own(), self.dir(), self.attempts()] {
            if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
                fs::remove_file(&path).map_err(StoriesError::io(&path))?;
            }
        }
        Ok(())
    }

    /// Makes the directories, which ignore themselves.
    ///
    /// # Errors
    /// When the disk says no, or a link stands in their place.
    pub fn make(&self) -> Result<(), StoriesError> {
        let attempts = self.attempts();
        own_file::make_dir(&attempts).map_err(StoriesError::io(&attempts))?;
        let ignore = self.own().join(".gitignore");
        if ignore.symlink_metadata().is_err() {
            write_bytes(&ignore, b"*\n", Sync::Later).map_err(StoriesError::io(&ignore))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_the_repository_of_the_plan() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let plans = top.join("repo/plans");
        fs::create_dir_all(&plans).unwrap();
        let plan = plans.join("stories.json");
        fs::write(&plan, "{}").unwrap();
        let root = |root: Option<&Path>, cwd: &Path| Place::find(&plan, root, cwd).unwrap().root;
        assert_eq!(
            root(None, &top.join("repo")),
            top.join("repo"),
            "where it was asked"
        );
        assert_eq!(
            root(None, Path::new("/")),
            top.join("repo/plans"),
            "where the plan is"
        );
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::write(top.join("repo/.git/HEAD"), "").unwrap();
        let place = Place::find(&plan, None, Path::new("/")).unwrap();
        assert_eq!(
            (place.root.clone(), place.name().as_str()),
            (top.join("repo"), "plans/stories.json")
        );
        assert_eq!(root(Some(&top), &plans), top, "as said");
        let outside = Place::find(&plan, Some(&plans), &top).unwrap();
        assert_eq!(outside.name(), "stories.json");
        assert!(matches!(
            Place::find(&plan, Some(Path::new("/")), &top),
            Err(StoriesError::NoTree { .. })
        ));

        place.make().unwrap();
        place.make().unwrap();
        assert_eq!(
            fs::read_to_string(top.join("repo/.carson/.gitignore")).unwrap(),
            "*\n"
        );
        let first = place.new_file("S-1", 2, "patch");
        assert!(first.ends_with(".carson/stories/attempts/S-1-2.patch"));
        fs::write(&first, "").unwrap();
        assert!(place.new_file("S-1", 2, "patch").ends_with("S-1-2.2.patch"));
    }

    #[test]
    fn a_link_in_the_place_of_our_files_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let plan = dir.path().join("stories.json");
        fs::write(&plan, "{}").unwrap();
        std::os::unix::fs::symlink("/tmp", dir.path().join(".carson")).unwrap();
        let place = Place::find(&plan, None, dir.path()).unwrap();
        assert!(place.make().is_err());
    }
}
