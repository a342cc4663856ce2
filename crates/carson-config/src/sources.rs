//! The texts that a fleet was made from, so that it can be made again.
//!
//! An operator edits the files while firings start. What the daemon has checked is kept beside the
//! database, and a firing is started from there: it never sees half an edit.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, process};

use crate::layout::Layout;

/// How many older sets stay: firings that were started a moment ago may still read them.
const KEPT: usize = 4;

/// Texts by their path in the home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    texts: BTreeMap<PathBuf, String>,
    /// A file that is taken to hold this text, whatever it holds.
    instead: Option<(PathBuf, String)>,
}

/// What stands in a file. Anything else may never come to its end.
fn read_file(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.is_file() {
        return fs::read_to_string(path);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "this is no regular file",
    ))
}

impl Sources {
    /// None yet; one of the files to come is taken to hold this text.
    pub(crate) fn with(instead: Option<(PathBuf, String)>) -> Self {
        Self {
            texts: BTreeMap::new(),
            instead,
        }
    }

    /// Reads a file below `root` and remembers it.
    pub(crate) fn read(&mut self, root: &Path, path: &Path) -> io::Result<String> {
        let instead = self.instead.as_ref().filter(|(file, _)| file == path);
        let text = match instead {
            Some((_, text)) => text.clone(),
            None => read_file(path)?,
        };
        if let Ok(inside) = path.strip_prefix(root) {
            self.texts.insert(inside.to_owned(), text.clone());
        }
        Ok(text)
    }

    /// Keeps this set as the last good one of a home; the directory to load it from.
    ///
    /// # Errors
    /// What the file system says.
    pub fn keep(&self, layout: &Layout) -> io::Result<PathBuf> {
        let all = layout.kept_settings();
        let mut hash = DefaultHasher::new();
        self.texts.hash(&mut hash);
        let name = format!("{:016x}", hash.finish());
        let dir = all.join(&name);
        if !self.is_in(&dir) {
            let new = all.join(format!(".new-{}", process::id()));
            let _ = fs::remove_dir_all(&new);
            private(&new)?;
            for (path, text) in &self.texts {
                let path = new.join(path);
                path.parent().map_or(Ok(()), private)?;
                let mut file = File::create(path)?;
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
            }
            let _ = fs::remove_dir_all(&dir);
            fs::rename(&new, &dir)?;
        }
        point(&all, &name)?;
        forget_old(&all, &name);
        Ok(dir)
    }

    /// Whether a directory holds just these texts. One that was damaged would be read by every
    /// firing until the settings change.
    fn is_in(&self, dir: &Path) -> bool {
        let mut texts = self.texts.iter();
        texts.all(|(path, text)| {
            fs::read(dir.join(path)).is_ok_and(|found| found == text.as_bytes())
        })
    }
}

fn private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

/// Makes `current` mean this set, in one step.
fn point(all: &Path, name: &str) -> io::Result<()> {
    let new = all.join(format!(".current-{}", process::id()));
    let _ = fs::remove_file(&new);
    symlink(name, &new)?;
    fs::rename(&new, all.join("current"))
}

fn forget_old(all: &Path, current: &str) {
    let Ok(items) = fs::read_dir(all) else { return };
    let mut sets: Vec<_> = items
        .filter_map(Result::ok)
        .filter(|item| item.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|item| item.file_name() != current)
        .filter_map(|item| Some((item.metadata().ok()?.modified().ok()?, item.path())))
        .collect();
    sets.sort();
    sets.reverse();
    for (_, path) in sets.into_iter().skip(KEPT) {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Sources {
        let texts = BTreeMap::from([
            ("carson.toml".into(), text.to_owned()),
            ("roles/a/role.toml".into(), "x".to_owned()),
        ]);
        Sources {
            texts,
            instead: None,
        }
    }

    #[test]
    fn a_set_that_lost_its_content_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path());
        let kept = set("a").keep(&layout).unwrap();
        fs::write(kept.join("carson.toml"), "").unwrap();
        assert_eq!(set("a").keep(&layout).unwrap(), kept);
        assert_eq!(fs::read_to_string(kept.join("carson.toml")).unwrap(), "a");
    }

    #[test]
    fn the_last_good_set_is_found_and_older_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path());
        for number in 0..9 {
            let kept = set(&number.to_string()).keep(&layout).unwrap();
            let current = layout.kept_settings().join("current");
            assert_eq!(
                fs::canonicalize(&current).unwrap(),
                fs::canonicalize(&kept).unwrap()
            );
            assert_eq!(
                fs::read_to_string(kept.join("roles/a/role.toml")).unwrap(),
                "x"
            );
        }
        let left = fs::read_dir(layout.kept_settings()).unwrap().count();
        assert_eq!(left, KEPT + 2);
        assert_eq!(
            set("8").keep(&layout).unwrap(),
            set("8").keep(&layout).unwrap()
        );
    }
}
