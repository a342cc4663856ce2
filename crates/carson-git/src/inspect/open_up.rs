//! Gives the owner the rights back that a session took away from its own files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use carson_proc::inspector::Question;
use serde::{Deserialize, Serialize};

use super::bounds::ENTRIES;
use super::safe_read::items;

/// Tools leave files and directories that even their owner may not read (a Go module cache, a
/// `chmod 000`). The child that looks cannot write there; this one can, and does nothing else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenUp {
    /// The directories, each with all that is in it.
    pub below: Vec<PathBuf>,
}

impl Question for OpenUp {
    const NAME: &'static str = "open-up";
    /// How many entries were changed.
    type Answer = u64;

    fn answer(self) -> Result<u64, String> {
        Ok(self.below.iter().map(|top| open_up(top)).sum())
    }
}

fn open_up(top: &Path) -> u64 {
    let (mut todo, mut seen, mut changed) = (vec![top.to_owned()], 0, 0);
    while let Some(path) = todo.pop() {
        seen += 1;
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        if seen > ENTRIES || found.is_symlink() {
            continue;
        }
        let mode = found.permissions().mode();
        let wanted = if found.is_dir() { 0o700 } else { 0o400 };
        let is_ours = found.is_dir() || found.is_file();
        if is_ours && mode & wanted != wanted {
            let given = fs::set_permissions(&path, Permissions::from_mode(mode | wanted));
            changed += u64::from(given.is_ok());
        }
        if found.is_dir() {
            todo.extend(items(&path).map(|item| item.path()));
        }
    }
    changed
}
