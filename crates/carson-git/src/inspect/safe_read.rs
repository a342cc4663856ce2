//! Reading files that a session could have put there: only plain ones, only inside its bench, only
//! up to a size. A pipe would block whoever opens it, a link leads to somebody else's files.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Directories beyond which nothing is read, with their links resolved.
#[derive(Clone, Debug)]
pub(super) struct Within(Vec<PathBuf>);

impl Within {
    /// `None` when the first one is gone.
    pub(super) fn of<'d>(dirs: impl IntoIterator<Item = &'d PathBuf>) -> Option<Self> {
        let mut dirs = dirs.into_iter().map(|dir| dir.canonicalize());
        let first = dirs.next()?.ok()?;
        Some(Self(std::iter::once(first).chain(dirs.flatten()).collect()))
    }

    /// A directory, when it lies inside.
    pub(super) fn dir(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let inside = self.0.iter().any(|dir| real.starts_with(dir));
        (inside && real.is_dir()).then_some(real)
    }

    /// A plain file's path, when its directory lies inside.
    pub(super) fn file(&self, path: &Path) -> Option<PathBuf> {
        let real = self.dir(path.parent()?)?.join(path.file_name()?);
        real.symlink_metadata().ok()?.is_file().then_some(real)
    }

    /// The end of a plain file, up to `most` bytes.
    pub(super) fn tail(&self, path: &Path, most: u64) -> Option<Vec<u8>> {
        tail(&self.file(path)?, most)
    }
}

/// The end of a file that is known to be plain.
pub(super) fn tail(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(most))).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Calls `on` with every plain file below `root` and its path from there, without following links.
/// Stops after `most` entries; whether it saw everything.
pub(super) fn walk(root: &Path, most: usize, mut on: impl FnMut(&Path, &Path)) -> bool {
    let (mut todo, mut seen) = (vec![PathBuf::new()], 0_usize);
    while let Some(dir) = todo.pop() {
        for item in items(&root.join(&dir)) {
            seen += 1;
            if seen > most {
                return false;
            }
            let Ok(kind) = item.file_type() else { continue };
            let path = dir.join(item.file_name());
            if kind.is_dir() {
                todo.push(path);
            } else if kind.is_file() {
                on(&item.path(), &path);
            }
        }
    }
    true
}

/// What is in a directory; nothing when it cannot be read.
pub(super) fn items(dir: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}
