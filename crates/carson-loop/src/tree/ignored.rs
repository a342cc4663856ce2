//! Which untracked files git would not take up: lines of `.gitignore` files.
//!
//! The library reads the patterns; which file counts where is git's own rule (gitignore(5)): the nearest file
//! with a pattern that fits decides, and what lies in an ignored directory is ignored.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Patterns of one file that count.
const PATTERNS: usize = 10_000;

/// The rules that hold in one directory: the nearest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ignored(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    here: Gitignore,
    above: Ignored,
}

impl Ignored {
    /// These, and before them what a file in `dir` says.
    pub(super) fn and(&self, dir: &[u8], text: &[u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // Git takes lines of bytes; what is not UTF-8 fits nothing here, and its files are seen.
        let text = String::from_utf8_lossy(text);
        let mut builder = GitignoreBuilder::new(as_path(dir));
        for line in text.lines().take(PATTERNS) {
            // One that is no pattern is no rule.
            let _ = builder.add_line(None::<PathBuf>, line);
        }
        match builder.build() {
            Ok(here) if !here.is_empty() => {
                let above = self.clone();
                Self(Some(Arc::new(Level { here, above })))
            }
            _ => self.clone(),
        }
    }

    /// Whether a path is ignored. The directories above it are known not to be.
    pub(super) fn has(&self, path: &[u8], is_dir: bool) -> bool {
        let mut rules = self;
        while let Some(level) = &rules.0 {
            match level.here.matched(as_path(path), is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = &level.above,
            }
        }
        false
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
