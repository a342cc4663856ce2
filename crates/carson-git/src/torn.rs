//! What a disk that failed leaves of a repository of ours: a file that is there, with nothing in it.
//!
//! git then says that the repository is none, or that its remote did not send what was asked for.

use std::fs;
use std::path::Path;

use tracing::warn;

use crate::error::{GitError, io};
use crate::oid::Oid;

/// Bytes of the file of a ref that are read: it has a commit, or the name of another ref.
const MOST: u64 = 4096;

/// Nothing of ours reads the `HEAD` of a bare repository, but without a sound one git finds no repository.
pub(crate) fn mend_head(repository: &Path) -> Result<(), GitError> {
    let head = repository.join("HEAD");
    let text = fs::read(&head).unwrap_or_default();
    if text.starts_with(b"ref: refs/") || !repository.join("objects").is_dir() {
        return Ok(());
    }
    warn!(repository = %repository.display(), "its HEAD is broken; it gets a new one");
    let new = repository.join("HEAD.new");
    fs::write(&new, "ref: refs/heads/main\n").map_err(|source| io(&new, source))?;
    fs::rename(&new, &head).map_err(|source| io(&head, source))
}

/// Removes the files of refs, at a name and below it, that name neither a commit nor another ref: only for what can be had
/// again. The names of these refs.
pub(crate) fn remove_refs(repository: &Path, name: &str) -> Result<Vec<String>, GitError> {
    let mut removed = Vec::new();
    let mut left = vec![repository.join(name)];
    while let Some(path) = left.pop() {
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => {
                let items = fs::read_dir(&path).into_iter().flatten().flatten();
                left.extend(items.map(|item| item.path()));
            }
            Ok(found) if found.is_file() && is_torn(&path, found.len()) => {
                fs::remove_file(&path).map_err(|source| io(&path, source))?;
                let name = path.strip_prefix(repository).unwrap_or(&path).display();
                warn!(repository = %repository.display(), %name, "a broken ref is removed");
                removed.push(name.to_string());
            }
            _ => {}
        }
    }
    Ok(removed)
}

/// Whether the file of a ref, so many bytes long, has nothing that one can say (gitrepository-layout(5)). A lock is none, and
/// what cannot be read is not judged.
fn is_torn(path: &Path, long: u64) -> bool {
    if path.extension().is_some_and(|ending| ending == "lock") {
        return false;
    }
    if long > MOST {
        return true;
    }
    let Ok(bytes) = fs::read(path) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    !text.starts_with("ref: refs/") && text.parse::<Oid>().is_err()
}
