//! What of the system's own places others may not read: keys, passwords, settings of services.
//!
//! Root reads all of them, and an ordinary user those of its groups. They are found by their modes
//! and not by a list of names, because every service has its own.

use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::unistd::{AccessFlags, access};
use tracing::warn;

/// Where administrators put settings and programs of their own.
const PLACES: [&str; 3] = ["/etc", "/opt", "/usr/local"];

/// Entries that are looked at. Of what is left then, nothing is seen.
const MAX_ENTRIES: usize = 500_000;

/// How long an answer holds: a firing asks several times, and a walk takes milliseconds.
const HOLDS: Duration = Duration::from_secs(60);

static LAST: Mutex<Option<(Instant, Vec<PathBuf>)>> = Mutex::new(None);

/// What we may read there and others may not: files, and whole directories that others cannot
/// enter.
pub(super) fn private() -> Vec<PathBuf> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match last.as_ref() {
        Some((when, found)) if when.elapsed() < HOLDS => found.clone(),
        _ => {
            let found = walk(PLACES.map(PathBuf::from), MAX_ENTRIES);
            *last = Some((Instant::now(), found.clone()));
            found
        }
    }
}

/// Breadth first: settings lie near the top, and large trees are programs.
fn walk(places: impl IntoIterator<Item = PathBuf>, most: usize) -> Vec<PathBuf> {
    let mut todo: VecDeque<PathBuf> = places.into_iter().collect();
    let mut found = Vec::new();
    let mut looked_at = 0;
    while let Some(dir) = todo.pop_front() {
        for item in fs::read_dir(&dir).into_iter().flatten().flatten() {
            looked_at += 1;
            let Ok(meta) = item.metadata() else { continue };
            if is_private(&meta) {
                let path = item.path();
                if is_readable(&path) {
                    found.push(path);
                }
            } else if meta.is_dir() {
                todo.push_back(item.path());
            }
        }
        if looked_at >= most {
            warn!(
                dirs = todo.len(),
                "too much to look at: directories of the system are hidden"
            );
            found.extend(todo.drain(..));
        }
    }
    found
}

/// Whether others may not read a file, or not enter a directory.
fn is_private(meta: &Metadata) -> bool {
    let mode = meta.permissions().mode();
    if meta.is_symlink() {
        return false;
    }
    let needed = if meta.is_dir() { 0o001 } else { 0o004 };
    mode & needed == 0
}

/// Whether we may, by our user or one of its groups.
fn is_readable(path: &Path) -> bool {
    access(path, AccessFlags::R_OK).is_ok() || access(path, AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_not_read_is_found_by_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        for (name, of_file) in [
            ("app/open.conf", 0o644),
            ("app/secret.conf", 0o600),
            ("app/of-group.conf", 0o640),
            ("closed/inside.conf", 0o644),
            ("passage/secret", 0o600),
            ("passage/open", 0o644),
        ] {
            let file = dir.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            mode(&file, of_file);
        }
        mode(&dir.join("app"), 0o755);
        mode(&dir.join("closed"), 0o700);
        mode(&dir.join("passage"), 0o711);
        symlink("secret.conf", dir.join("app/link")).unwrap();
        let mut found = walk([dir.to_owned()], 1000);
        found.sort();
        let expected = [
            "app/of-group.conf",
            "app/secret.conf",
            "closed",
            "passage/secret",
        ];
        assert_eq!(found, expected.map(|name| dir.join(name)));
    }

    #[test]
    fn what_was_not_looked_at_is_not_seen() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "").unwrap();
        mode(&dir.path().join("a"), 0o755);
        assert_eq!(walk([dir.path().to_owned()], 1), [dir.path().join("a")]);
    }
}
