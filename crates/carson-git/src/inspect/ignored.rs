//! Which untracked files git would not take up: the `.gitignore` files of a worktree.
//!
//! The library reads the patterns; which file counts where is git's own rule (gitignore(5)): the
//! nearest file with a pattern that fits decides, and what lies in an ignored directory is ignored.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::safe_read::tail;
use crate::paths::path_of;

/// Bytes of one file of patterns that count; a longer one hides nothing.
const FILE: u64 = 1 << 20;
/// Patterns of one file that count.
const PATTERNS: usize = 10_000;

/// The rules that hold in one directory.
#[derive(Clone, Default)]
pub(super) struct Rules(Option<Rc<Level>>);

struct Level {
    here: Gitignore,
    above: Rules,
}

impl Rules {
    /// Those of a directory below: `dir` is its path from the top, `file` its `.gitignore`.
    pub(super) fn below(&self, dir: &[u8], file: &Path) -> Self {
        let Some(here) = read(dir, file) else {
            return self.clone();
        };
        let above = self.clone();
        Self(Some(Rc::new(Level { here, above })))
    }

    /// Whether a path, from the top, is ignored. The directories above it are known not to be.
    pub(super) fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        let path = path_of(path);
        let mut rules = self;
        while let Some(level) = &rules.0 {
            match level.here.matched(&path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = &level.above,
            }
        }
        false
    }
}

fn read(dir: &[u8], file: &Path) -> Option<Gitignore> {
    let found = file.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > FILE {
        return None;
    }
    let text = tail(file, FILE)?;
    // Git takes lines of bytes; what is not UTF-8 fits nothing here, and its files are kept.
    let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text));
    let mut builder = GitignoreBuilder::new(path_of(dir));
    for line in text.lines().take(PATTERNS) {
        // One that is no pattern is no rule.
        let _ = builder.add_line(None::<PathBuf>, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests;
