//! What tells a home from every other one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use carson_config::Layout;
use uuid::Uuid;

/// The id of a home: made once, and kept in it.
///
/// # Errors
/// When it can be neither read nor made.
pub fn id_of(layout: &Layout) -> io::Result<String> {
    kept_at(layout.state().join("home-id"))
}

/// The id of the directory of local forges: hosts that share it have the same.
///
/// # Errors
/// When it can be neither read nor made.
pub fn forge_id(layout: &Layout) -> io::Result<String> {
    let dir = layout.root.join("forge");
    fs::create_dir_all(&dir)?;
    kept_at(dir.join(".forge-id"))
}

fn kept_at(path: PathBuf) -> io::Result<String> {
    let read = || match fs::read_to_string(&path) {
        Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    if let Some(id) = read()? {
        return Ok(id);
    }
    let id = Uuid::now_v7().simple().to_string();
    // The first one stays.
    match write_whole(&path, &id, |fresh, path| fs::hard_link(fresh, path)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(read()?.unwrap_or(id)),
    }
}

/// Writes a file of the home whole or not at all: beside its place, from where `put` brings it there.
pub(crate) fn write_whole(
    path: &Path,
    text: &str,
    put: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let fresh = path.with_extension(format!("{}.new", Uuid::now_v7().simple()));
    let mut file: File = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    let put = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| put(&fresh, path));
    let _ = fs::remove_file(&fresh);
    put
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_keeps_the_id_that_was_made_first() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path());
        fs::create_dir_all(layout.state()).unwrap();
        let all: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| id_of(&layout).unwrap()))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let last = id_of(&layout).unwrap();
        assert!(all.iter().all(|id| *id == last), "{all:?} {last}");
        let other = tempfile::tempdir().unwrap();
        let other = Layout::at(other.path());
        fs::create_dir_all(other.state()).unwrap();
        assert_ne!(id_of(&other).unwrap(), last);
    }
}
