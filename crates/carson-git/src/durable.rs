//! What must be on the disk before somebody is told of it.
//!
//! Git syncs what it writes (`core.fsync` in `git.rs`), but not the directories that give it its
//! names, and nothing of what `init` makes. A clone without its `HEAD` is no repository.

use std::fs::{self, File};
use std::path::Path;

use crate::error::{GitError, io};

/// The name of a file or directory, and those of the directories above it up to `top`.
pub(crate) fn name(path: &Path, top: &Path) -> Result<(), GitError> {
    for dir in path.ancestors().skip(1) {
        sync(dir)?;
        if dir == top {
            break;
        }
    }
    Ok(())
}

/// Everything in a directory, and the directory.
pub(crate) fn tree(dir: &Path) -> Result<(), GitError> {
    for item in fs::read_dir(dir).map_err(|source| io(dir, source))? {
        let item = item.map_err(|source| io(dir, source))?;
        let path = item.path();
        match item.file_type().map_err(|source| io(&path, source))? {
            kind if kind.is_dir() => tree(&path)?,
            kind if kind.is_file() => sync(&path)?,
            _ => {}
        }
    }
    sync(dir)
}

/// Everything on the file system of a directory: for what is too many files to be named.
///
/// # Errors
/// What the disk says.
pub fn file_system_of(dir: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::unistd::syncfs(File::open(dir)?)?;
    // Elsewhere no layers are made; this is what comes nearest.
    #[cfg(not(target_os = "linux"))]
    {
        let _ = dir;
        nix::unistd::sync();
    }
    Ok(())
}

fn sync(path: &Path) -> Result<(), GitError> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| io(path, source))
}
