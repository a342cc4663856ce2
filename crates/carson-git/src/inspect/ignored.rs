//! Which untracked files git would not take up: the `.gitignore` files of a worktree.
//!
//! The library reads the patterns; which file counts where is git's own rule (gitignore(5)): the
//! nearest file with a pattern that fits decides, and what lies in an ignored directory is ignored.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

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
        self.with(dir, text_of(file))
    }

    /// The same, by what such a file says.
    pub(super) fn with(&self, dir: &[u8], text: Option<Vec<u8>>) -> Self {
        let Some(here) = text.and_then(|text| parsed(dir, &text)) else {
            return self.clone();
        };
        let above = self.clone();
        Self(Some(Rc::new(Level { here, above })))
    }

    /// Whether a path, from the top, is ignored. The directories above it are known not to be.
    pub(super) fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        self.rule(&path_of(path), is_dir).is_some()
    }

    /// Whether a directory is ignored by a rule that names it.
    pub(super) fn is_named(&self, dir: &[u8]) -> bool {
        let path = path_of(dir);
        let said = |rule: &Glob| {
            let rule = rule.original().trim_end_matches('/');
            let last = rule.rsplit('/').next().unwrap_or(rule);
            path.file_name().is_some_and(|name| name == last)
        };
        self.rule(&path, true).is_some_and(said)
    }

    /// The rule that ignores a path.
    fn rule(&self, path: &Path, is_dir: bool) -> Option<&Glob> {
        let mut rules = self;
        while let Some(level) = &rules.0 {
            match level.here.matched(path, is_dir) {
                Match::Ignore(rule) => return Some(rule),
                Match::Whitelist(_) => return None,
                Match::None => rules = &level.above,
            }
        }
        None
    }
}

fn text_of(file: &Path) -> Option<Vec<u8>> {
    let found = file.symlink_metadata().ok()?;
    let counts = found.is_file() && found.len() <= FILE;
    counts.then(|| tail(file, FILE)).flatten()
}

fn parsed(dir: &[u8], text: &[u8]) -> Option<Gitignore> {
    // Git takes lines of bytes; what is not UTF-8 fits nothing here, and its files are kept.
    let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    let mut builder = GitignoreBuilder::new(path_of(dir));
    for line in text.lines().take(PATTERNS) {
        // One that is no pattern is no rule.
        let _ = builder.add_line(None::<PathBuf>, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests;
