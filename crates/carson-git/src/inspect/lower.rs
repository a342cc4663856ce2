//! What of a tree on layers nobody has written.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_proc::sandbox::Overlay;

use crate::paths::path_of;

/// The layers below a worktree's own directory.
pub(super) struct Lower {
    above: PathBuf,
    below: Vec<PathBuf>,
}

impl Lower {
    /// `None` where the layers lie on more than one file system: then a tree shows numbers of its own
    /// (overlayfs.rst, "Inode properties"), and nothing is known to be untouched.
    pub(super) fn of(layers: &Overlay) -> Option<Self> {
        let (above, below) = layers.lower.split_first()?;
        let device = |dir: &PathBuf| dir.symlink_metadata().ok().map(|found| found.dev());
        let here = device(above)?;
        let is_here = |dir: &PathBuf| device(dir) == Some(here);
        below.iter().all(is_here).then(|| Self {
            above: above.clone(),
            below: below.to_vec(),
        })
    }

    /// Whether the tree has at `path` what is below, and so everything beneath it: the worktree's own
    /// directory has nothing there, and the tree shows the `inode` of the topmost below. A directory
    /// that was moved there has another.
    pub(super) fn is_untouched(&self, path: &[u8], inode: u64) -> bool {
        let path = path_of(path);
        let found = |dir: &Path| dir.join(&path).symlink_metadata().ok();
        if found(&self.above).is_some() {
            return false;
        }
        let below = self.below.iter().find_map(|dir| found(dir));
        below.is_some_and(|below| below.ino() == inode)
    }
}
