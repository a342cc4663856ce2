//! Where a loop is, and where its files are.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::LoopError;
use crate::tree::TreePath;

/// In whose names the files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// `.carson/loop/`.
    #[default]
    Native,
    /// `.alpf/`, as ALPF has it.
    Alpf,
}

impl Layout {
    fn dir(self, root: &Path) -> PathBuf {
        match self {
            Self::Native => root.join(".carson/loop"),
            Self::Alpf => root.join(".alpf"),
        }
    }
}

/// Where a loop is: the tree that it works on, and the directory of its own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    layout: Layout,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A loop.
    Loop(Place),
    /// What ALPF was told, where no loop stands beside it: the loop that would take that over.
    AlpfConfig(Place),
    /// Nothing, up to the top.
    Nothing,
}

impl Place {
    /// That of a loop on this very tree, whether there is one or not.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn at(root: &Path, layout: Layout) -> Result<Self, LoopError> {
        let real = root.canonicalize();
        let root = real.map_err(LoopError::io(format!("{}", root.display())))?;
        Ok(Self { root, layout })
    }

    /// The nearest one from a directory upward. One that is kept in ALPF's names (`--compat alpf`) is one, whether or not
    /// its flag is said; where both stand in a directory, the flag decides. What ALPF itself left is none: see
    /// [`Found::AlpfConfig`].
    ///
    /// # Errors
    /// When there is no such directory, or what is there is not to be trusted.
    pub fn find(from: &Path, layout: Layout) -> Result<Found, LoopError> {
        let from = Self::at(from, layout)?.root;
        for root in from.ancestors() {
            let place = Self {
                root: root.to_owned(),
                layout,
            };
            if place.dir().symlink_metadata().is_ok() {
                place.is_ours(&from)?;
                return Ok(Found::Loop(place));
            }
            if layout == Layout::Alpf {
                continue;
            }
            let alpf = Self {
                layout: Layout::Alpf,
                ..place.clone()
            };
            // ALPF itself writes no such file.
            let is_kept = alpf.events().symlink_metadata().is_ok();
            if is_kept || place.alpf_config().is_file() {
                alpf.is_ours(&from)?;
                return Ok(match is_kept {
                    true => Found::Loop(alpf),
                    false => Found::AlpfConfig(place),
                });
            }
        }
        Ok(Found::Nothing)
    }

    /// Whether what is written there may run as us: it is ours, the system's, or of whoever the tree belongs to
    /// that the system's own user works in.
    fn is_ours(&self, from: &Path) -> Result<(), LoopError> {
        let me = nix::unistd::geteuid().as_raw();
        let tree = from.metadata().map(|found| found.uid()).unwrap_or(me);
        let trusted = |uid: u32| uid == me || uid == 0 || me == 0 && uid == tree;
        let parts = [self.top(), self.dir(), self.config()];
        for path in parts {
            let Ok(found) = path.symlink_metadata() else {
                continue;
            };
            if path != self.config() && !found.is_dir() {
                return Err(LoopError::NoDirectory { path });
            }
            if !trusted(found.uid()) {
                return Err(LoopError::Foreign { path });
            }
        }
        Ok(())
    }

    /// Makes the directories, which ignore themselves.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn make(&self) -> Result<(), LoopError> {
        let make = |dir: &Path| {
            let made = crate::own_file::make_dir(dir);
            made.map_err(LoopError::io(format!("{}", dir.display())))
        };
        make(&self.dir())?;
        self.is_ours(&self.root)?;
        let ignore = self.top().join(".gitignore");
        if ignore.symlink_metadata().is_err() && self.layout == Layout::Native {
            let written =
                crate::json_file::write_bytes(&ignore, b"*\n", crate::json_file::Sync::Later);
            written.map_err(LoopError::io(format!("{}", ignore.display())))?;
        }
        make(&self.attempts())?;
        make(&self.checkpoints())
    }

    /// Whether there is a loop.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.config().symlink_metadata().is_ok() || self.state().symlink_metadata().is_ok()
    }

    /// The tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// In whose names the files are.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The directory of the loop's own files.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.layout.dir(&self.root)
    }

    /// The directory at the top of the tree that it is in: `.carson`, or `.alpf`.
    fn top(&self) -> PathBuf {
        match self.layout {
            Layout::Native => self.root.join(".carson"),
            Layout::Alpf => self.dir(),
        }
    }

    /// Paths of the tree that are the loop's own, beside those that never count.
    #[must_use]
    pub fn own(&self) -> Vec<TreePath> {
        // ALPF's own files are nobody's work, whoever keeps the state.
        TreePath::new(".alpf").into_iter().collect()
    }

    /// What ALPF was told.
    #[must_use]
    pub fn alpf_config(&self) -> PathBuf {
        self.root.join(".alpf/config.json")
    }

    /// What a person writes.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.dir().join("config.json")
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.dir().join("state.json")
    }

    /// What happened.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.dir().join("events.jsonl")
    }

    /// Held by whoever runs it, or brings the tree back.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.dir().join("lock")
    }

    /// What everything has open that a run starts.
    #[must_use]
    pub(crate) fn mark(&self) -> PathBuf {
        self.dir().join("mark")
    }

    /// Held while the configuration is changed.
    #[must_use]
    pub fn edit_lock(&self) -> PathBuf {
        self.dir().join("edit.lock")
    }

    /// A request to stop.
    #[must_use]
    pub fn stop(&self) -> PathBuf {
        self.dir().join("stop.json")
    }

    /// What a run in the background prints.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.dir().join("loop.log")
    }

    /// What the check before the first attempt printed.
    #[must_use]
    pub fn first_check(&self) -> PathBuf {
        self.dir().join("first-check")
    }

    /// The attempts.
    #[must_use]
    pub fn attempts(&self) -> PathBuf {
        self.dir().join("attempts")
    }

    /// One of them.
    #[must_use]
    pub fn attempt(&self, number: u32) -> PathBuf {
        self.attempts().join(format!("{number:03}"))
    }

    /// What attempts left.
    #[must_use]
    pub fn checkpoints(&self) -> PathBuf {
        self.dir().join("checkpoints")
    }

    /// Contents of files at the checkpoints.
    #[must_use]
    pub fn contents(&self) -> PathBuf {
        self.checkpoints().join("contents")
    }

    /// Runs before this one.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.dir().join("runs")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn find(from: &Path) -> Found {
        Place::find(from, Layout::Native).unwrap()
    }

    #[test]
    fn the_nearest_one_upward_is_meant() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (inner, deep) = (root.join("a/b"), root.join("a/b/c/d"));
        fs::create_dir_all(&deep).unwrap();
        assert!(!matches!(find(&deep), Found::Loop(place) if place.root().starts_with(&root)));
        let outer = Place::at(&root, Layout::Native).unwrap();
        outer.make().unwrap();
        assert_eq!(find(&deep), Found::Loop(outer));
        let inner = Place::at(&inner, Layout::Native).unwrap();
        inner.make().unwrap();
        assert_eq!(find(&deep), Found::Loop(inner));
        let ignore = fs::read_to_string(root.join(".carson/.gitignore")).unwrap();
        assert_eq!(ignore, "*\n");
    }

    #[test]
    fn what_alpf_was_told_counts_where_no_loop_stands() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::at(dir.path(), Layout::Native).unwrap();
        fs::create_dir(dir.path().join(".alpf")).unwrap();
        fs::write(place.alpf_config(), "{}").unwrap();
        assert_eq!(find(dir.path()), Found::AlpfConfig(place.clone()));
        place.make().unwrap();
        assert_eq!(find(dir.path()), Found::Loop(place));
        let found = Place::find(dir.path(), Layout::Alpf).unwrap();
        assert!(matches!(found, Found::Loop(place) if place.dir().ends_with(".alpf")));
    }

    #[test]
    fn one_in_alpf_s_names_is_the_loop_where_no_other_stands() {
        let dir = tempfile::tempdir().unwrap();
        let at = |layout| Place::at(dir.path(), layout).unwrap();
        let (alpf, native) = (at(Layout::Alpf), at(Layout::Native));
        alpf.make().unwrap();
        // ALPF's own: nothing was run in its names yet.
        fs::write(alpf.config(), "{}").unwrap();
        fs::write(alpf.state(), "{\"status\": \"running\"}").unwrap();
        assert_eq!(find(dir.path()), Found::AlpfConfig(native.clone()));
        fs::write(alpf.events(), "").unwrap();
        let deep = dir.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(find(&deep), Found::Loop(alpf.clone()));
        native.make().unwrap();
        assert_eq!(find(&deep), Found::Loop(native));
        assert_eq!(Place::find(&deep, Layout::Alpf).unwrap(), Found::Loop(alpf));
    }

    #[test]
    fn a_link_in_its_place_is_refused() {
        let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(out.path().join("loop")).unwrap();
        symlink(out.path(), dir.path().join(".carson")).unwrap();
        let error = Place::find(dir.path(), Layout::Native).unwrap_err();
        assert!(matches!(error, LoopError::NoDirectory { .. }), "{error}");
    }
}
