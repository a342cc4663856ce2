//! Patterns as `.gitignore` has them: `docs/`, `src/**/*.rs`, `!src/secret.rs`.
//!
//! One thing is stricter than there. Git cannot take a file out again whose directory is in; here the last
//! pattern that covers a path decides, whether it names the file or a directory above it, so that an exclusion
//! always excludes.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore as Matcher, GitignoreBuilder};
use thiserror::Error;

/// Longest pattern that is read: a longer one is no path.
const LONGEST: usize = 1024;

/// A pattern that nothing can be held against.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPattern {
    /// It covers nothing, ever.
    #[error(
        "covers nothing: it is empty, only `/` or `!`, or a comment (write `\\#` for a name that begins with #)"
    )]
    Nothing,
    /// It is too long.
    #[error("is longer than {LONGEST} bytes")]
    TooLong,
    /// It leads out of the repository.
    #[error("leads out of the repository: paths are from its top, without `..`")]
    Outside,
    /// It is no glob.
    #[error("is no pattern as in .gitignore: {0}")]
    NoGlob(String),
}

/// An ordered list of patterns.
#[derive(Clone, Debug, Default)]
pub struct Gitignore {
    patterns: Vec<Matcher>,
}

impl Gitignore {
    /// Reads the patterns.
    ///
    /// # Errors
    /// The first that cannot be read, with its place in the list.
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Self, (usize, BadPattern)> {
        let read = patterns.iter().enumerate();
        let read = read.map(|(at, one)| pattern(one.as_ref()).map_err(|bad| (at, bad)));
        Ok(Self {
            patterns: read.collect::<Result<_, _>>()?,
        })
    }

    /// Looks at one pattern alone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn check(pattern_text: &str) -> Result<(), BadPattern> {
        pattern(pattern_text).map(|_| ())
    }

    /// Whether they cover a file, by its path from the top.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        self.decide(path, false)
    }

    /// Whether they cover a directory.
    #[must_use]
    pub fn covers_dir(&self, path: &Path) -> bool {
        self.decide(path, true)
    }

    fn decide(&self, path: &Path, is_dir: bool) -> bool {
        let mut covered = false;
        for pattern in &self.patterns {
            match covering(pattern, path, is_dir) {
                Match::None => {}
                Match::Ignore(()) => covered = true,
                Match::Whitelist(()) => covered = false,
            }
        }
        covered
    }
}

/// What one pattern says of a path or of a directory above it.
fn covering(pattern: &Matcher, path: &Path, is_dir: bool) -> Match<()> {
    let says = |path: &Path, is_dir| pattern.matched(path, is_dir).map(|_| ());
    let itself = says(path, is_dir);
    if !itself.is_none() {
        return itself;
    }
    // Not the top itself, whose name is empty: `*/` would match that.
    let dirs = path.ancestors().skip(1);
    let mut dirs = dirs.filter(|dir| !dir.as_os_str().is_empty());
    let covered = dirs.find_map(|dir| Some(says(dir, true)).filter(|says| !says.is_none()));
    covered.unwrap_or(Match::None)
}

fn pattern(text: &str) -> Result<Matcher, BadPattern> {
    if text.len() > LONGEST {
        return Err(BadPattern::TooLong);
    }
    let bare = text.strip_prefix('!').unwrap_or(text);
    if bare.split('/').any(|part| part == "..") {
        return Err(BadPattern::Outside);
    }
    // In .gitignore `./docs` means nothing; everywhere else it means docs.
    let (not, mut bare) = (&text[..text.len() - bare.len()], bare);
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    if bare.trim_matches('/').trim().is_empty() {
        return Err(BadPattern::Nothing);
    }
    let mut builder = GitignoreBuilder::new(PathBuf::new());
    // Git takes `[` without an end for nothing at all; a person meant something.
    builder.allow_unclosed_class(false);
    let no_glob = |error: ignore::Error| BadPattern::NoGlob(error.to_string());
    builder
        .add_line(None, &format!("{not}{bare}"))
        .map_err(no_glob)?;
    let matcher = builder.build().map_err(no_glob)?;
    if matcher.is_empty() {
        return Err(BadPattern::Nothing);
    }
    Ok(matcher)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(patterns: &[&str], path: &str) -> bool {
        Gitignore::new(patterns).unwrap().covers(Path::new(path))
    }

    #[test]
    fn table() {
        let cases: &[(&[&str], &[&str], &[&str])] = &[
            (
                &["docs/"],
                &["docs/a", "docs/a/b", "x/docs/a"],
                &["docs", "adocs/a", "src/a"],
            ),
            (&["/docs/"], &["docs/a"], &["x/docs/a"]),
            (
                &["docs"],
                &["docs", "docs/a", "x/docs"],
                &["docs2", "x/docsy"],
            ),
            (&["src/*"], &["src/a", "src/a/b"], &["x/src/a", "srca"]),
            (&["src/*.rs"], &["src/a.rs"], &["src/a/b.rs", "a.rs"]),
            (
                &["src/**/*.rs"],
                &["src/a.rs", "src/a/b/c.rs"],
                &["a.rs", "src/a.txt"],
            ),
            (&["*.md"], &["a.md", "docs/a.md"], &["a.mdx", "md"]),
            (&["**"], &["a", ".env", "a/b/c"], &[]),
            (&["**/*"], &["a", "a/b"], &[]),
            (&["*/"], &["a/b"], &["a"]),
            (&["./src/a"], &["src/a"], &["a"]),
            (&["a/**/b"], &["a/b", "a/x/b", "a/x/y/b/z"], &["b", "ab"]),
            (&["Docs/"], &["Docs/a"], &["docs/a", "DOCS/a"]),
            (&["[ab].c"], &["a.c", "x/b.c"], &["c.c"]),
            (&["\\!a"], &["!a"], &["a"]),
            (&["a b"], &["a b"], &["a"]),
            // Exclusions exclude, wherever they stand above.
            (
                &["docs/", "!docs/private/"],
                &["docs/a"],
                &["docs/private/a", "docs/private/x/y"],
            ),
            (
                &["docs/**/*.md", "!docs/private/"],
                &["docs/a.md"],
                &["docs/private/a.md"],
            ),
            (&["docs/", "!docs/a.md"], &["docs/b.md"], &["docs/a.md"]),
            (&["!docs/a.md", "docs/"], &["docs/a.md"], &[]),
            (&["**", "!**/*.tmp"], &["a"], &["a.tmp", "x/a.tmp"]),
            (&["!a"], &[], &["a", "b"]),
            (&[], &[], &["a"]),
        ];
        for (patterns, inside, outside) in cases {
            for path in *inside {
                assert!(covers(patterns, path), "{patterns:?} covers {path}");
            }
            for path in *outside {
                assert!(
                    !covers(patterns, path),
                    "{patterns:?} does not cover {path}"
                );
            }
        }
    }

    #[test]
    fn a_name_that_is_no_text_is_a_name() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"docs/\xff\xfe"));
        assert!(Gitignore::new(&["docs/"]).unwrap().covers(path));
        assert!(!Gitignore::new(&["src/"]).unwrap().covers(path));
    }

    #[test]
    fn what_can_cover_nothing_is_refused() {
        for (text, bad) in [
            ("", BadPattern::Nothing),
            ("# all of it", BadPattern::Nothing),
            ("  ", BadPattern::Nothing),
            ("/", BadPattern::Nothing),
            ("!", BadPattern::Nothing),
            ("!/", BadPattern::Nothing),
            ("./", BadPattern::Nothing),
            ("../x", BadPattern::Outside),
            ("a/../../x", BadPattern::Outside),
            ("!../x", BadPattern::Outside),
        ] {
            assert_eq!(Gitignore::check(text), Err(bad), "{text:?}");
        }
        assert_eq!(
            Gitignore::check(&"a".repeat(1025)),
            Err(BadPattern::TooLong)
        );
        assert!(matches!(
            Gitignore::check("a[b"),
            Err(BadPattern::NoGlob(_))
        ));
        let (at, _) = Gitignore::new(&["a", ".."]).unwrap_err();
        assert_eq!(at, 1);
    }
}
