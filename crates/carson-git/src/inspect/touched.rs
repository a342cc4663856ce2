//! When the files of a worktree were last changed, by their notes in the file system alone: nothing but the
//! tag of a cache is opened, no link is followed, and what programs make again by themselves is left out.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};

use super::bounds::ENTRIES;
use super::generated;
use super::safe_read::items;

/// Seconds and nanoseconds of the newest change of an entry, which no program can set back by hand.
pub type Touched = (i64, i64);

/// Asks for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LastTouched {
    /// The directory.
    pub tree: PathBuf,
}

impl Question for LastTouched {
    const NAME: &'static str = "last-touched";
    type Answer = Touched;

    fn answer(self) -> Result<Touched, String> {
        let found = self.tree.symlink_metadata();
        let found = found.map_err(|error| format!("{}: {error}", self.tree.display()))?;
        Ok(newest(&self.tree, changed(&found), ENTRIES))
    }
}

/// The newest of all that is below, as far as `most` entries go. A name that comes or goes changes its
/// directory.
fn newest(top: &Path, own: Touched, most: usize) -> Touched {
    let (mut todo, mut seen, mut newest) = (vec![top.to_owned()], 0_usize, own);
    while let Some(dir) = todo.pop() {
        for item in items(&dir) {
            seen += 1;
            if seen > most {
                return newest;
            }
            // That of the entry itself, where it is a link.
            let Ok(found) = item.metadata() else { continue };
            let name = item.file_name();
            if is_left_out(name.as_bytes(), &found, &item.path()) {
                continue;
            }
            newest = newest.max(changed(&found));
            if found.is_dir() {
                todo.push(item.path());
            }
        }
    }
    newest
}

fn is_left_out(name: &[u8], found: &Metadata, path: &Path) -> bool {
    match found.is_dir() {
        true => name == b".git" || generated::is_directory(name) || generated::is_tagged(path),
        false => generated::is_file(name),
    }
}

fn changed(found: &Metadata) -> Touched {
    (found.ctime(), found.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    fn asked(tree: &Path) -> Touched {
        // Notes of time are as coarse as the kernel's tick.
        std::thread::sleep(Duration::from_millis(20));
        let tree = tree.to_owned();
        LastTouched { tree }.answer().unwrap()
    }

    #[test]
    fn whatever_is_written_moved_or_removed_is_seen_and_reading_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path();
        fs::create_dir(tree.join("src")).unwrap();
        fs::write(tree.join("src/a.rs"), "a").unwrap();
        let mut last = asked(tree);
        assert_eq!(fs::read(tree.join("src/a.rs")).unwrap(), b"a");
        assert_eq!(asked(tree), last);
        let changes: [&dyn Fn(); 4] = [
            &|| fs::write(tree.join("src/a.rs"), "b").unwrap(),
            &|| fs::rename(tree.join("src/a.rs"), tree.join("src/b.rs")).unwrap(),
            &|| fs::remove_file(tree.join("src/b.rs")).unwrap(),
            &|| std::os::unix::fs::symlink("/nowhere", tree.join("link")).unwrap(),
        ];
        for (at, change) in changes.iter().enumerate() {
            change();
            let now = asked(tree);
            assert!(now > last, "{at}");
            last = now;
        }
    }

    #[test]
    fn what_is_made_again_and_what_a_link_leads_to_do_not_count() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let tree = dir.path();
        for made in [".git", "node_modules"] {
            fs::create_dir(tree.join(made)).unwrap();
        }
        std::os::unix::fs::symlink(other.path(), tree.join("link")).unwrap();
        let before = asked(tree);
        fs::write(tree.join(".git/index"), "x").unwrap();
        fs::write(tree.join("node_modules/x.js"), "x").unwrap();
        fs::write(other.path().join("x"), "x").unwrap();
        assert_eq!(asked(tree), before);
    }

    #[test]
    fn no_more_is_looked_at_than_is_allowed() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..10 {
            fs::write(dir.path().join(name.to_string()), "").unwrap();
        }
        assert_eq!(newest(dir.path(), (0, 0), 0), (0, 0));
    }
}
