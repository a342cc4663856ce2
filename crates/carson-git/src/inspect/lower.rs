//! What of a tree on layers nobody has written.

use std::fs::{self, File, Metadata};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use carson_proc::sandbox::Overlay;

use super::bounds::OBJECT;
use crate::paths::path_of;

/// The layers below a worktree's own directory.
pub(super) struct Lower {
    above: PathBuf,
    below: Vec<PathBuf>,
    /// Whether the tree shows the inodes of the layers.
    shows_inodes: bool,
}

impl Lower {
    /// Where the layers lie on more than one file system a tree shows numbers of its own (overlayfs.rst, "Inode
    /// properties"), and nothing is known to be untouched.
    pub(super) fn of(layers: &Overlay) -> Option<Self> {
        let (above, below) = layers.lower.split_first()?;
        let device = |dir: &PathBuf| dir.symlink_metadata().ok().map(|found| found.dev());
        let here = device(above);
        let is_here = |dir: &PathBuf| device(dir) == here;
        Some(Self {
            above: above.clone(),
            below: below.to_vec(),
            shows_inodes: here.is_some() && below.iter().all(is_here),
        })
    }

    /// Whether what a setup left lies above the checkout.
    pub(super) fn has_setup(&self) -> bool {
        self.below.len() > 1
    }

    /// Whether the tree has at `path` what is below, and so everything beneath it: the worktree's own
    /// directory has nothing there, and the tree shows the `inode` of the topmost below. A directory
    /// that was moved there has another.
    pub(super) fn is_untouched(&self, path: &[u8], inode: u64) -> bool {
        let path = path_of(path);
        let found = |dir: &Path| dir.join(&path).symlink_metadata().ok();
        if !self.shows_inodes || found(&self.above).is_some() {
            return false;
        }
        let below = self.below.iter().find_map(|dir| found(dir));
        below.is_some_and(|below| below.ino() == inode)
    }

    /// Whether below lies at `path` just what is in this file now: somebody has written the same once more.
    pub(super) fn has_same(&self, path: &[u8], file: &Path, now: &Metadata) -> bool {
        let path = path_of(path);
        let found = |dir: &PathBuf| {
            let place = dir.join(&path);
            let found = place.symlink_metadata().ok()?;
            Some((place, found))
        };
        let Some((place, below)) = self.below.iter().find_map(found) else {
            return false;
        };
        if now.is_symlink() || below.is_symlink() {
            let target = |link: &Path| fs::read_link(link).ok();
            return target(&place).is_some_and(|below| target(file) == Some(below));
        }
        let runs = |found: &Metadata| found.permissions().mode() & 0o100 != 0;
        (now.is_file() && below.is_file())
            && (now.len() == below.len() && now.len() <= OBJECT)
            && runs(now) == runs(&below)
            && has_same_bytes(&place, file).unwrap_or(false)
    }
}

fn has_same_bytes(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (
        BufReader::new(File::open(one)?),
        BufReader::new(File::open(other)?),
    );
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let most = left.len().min(right.len());
        if most == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..most] != right[..most] {
            return Ok(false);
        }
        one.consume(most);
        other.consume(most);
    }
}
