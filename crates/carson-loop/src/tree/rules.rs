//! Which files of a tree count.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git_dir::{GitDir, read_plain};
use super::ignored::Ignored;
use super::path::TreePath;
use super::tracked::tracked;

/// Bytes of one file of patterns that count; a longer one hides nothing.
pub(super) const PATTERNS: u64 = 1 << 20;

/// Never part of a tree, wherever they stand: the repositories' own files, and Carson's.
pub const OWN: [&[u8]; 2] = [b".git", b".carson"];

/// Whether a name is one of these to some file system: whatever the case of its letters, and the short name that Windows
/// gives `.git`.
#[must_use]
pub fn is_own(name: &[u8]) -> bool {
    let mut own = OWN.iter().copied().chain([b"git~1".as_slice()]);
    own.any(|own| name.eq_ignore_ascii_case(own))
}

/// Which files of a tree count. `.git` and `.carson` never do; a file in the repository's index does,
/// whatever ignores it.
#[derive(Clone, Debug)]
pub struct Rules {
    git: Option<GitDir>,
    /// Where the tree is below the top of its work tree: empty, or with a `/` behind it.
    prefix: Vec<u8>,
    /// Whether the `.gitignore` files in the tree hold.
    obeys: bool,
    /// The rules from outside of the tree.
    above: Ignored,
    /// Lines as of a `.gitignore` at its top, which nothing in it overrules.
    left_out: Ignored,
    /// Paths that do not count, with what is in them.
    without: BTreeSet<TreePath>,
    /// Whether `.git` and `.carson` count below the top.
    inner: bool,
}

/// The rules of one directory on the way down.
#[derive(Clone, Debug)]
pub(super) struct Here {
    ignored: Ignored,
    /// Only what the index has counts here: the directory is ignored.
    only_tracked: bool,
}

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It does not count.
    Out,
    /// It counts.
    In,
    /// A directory of which only what the index has counts.
    Partly,
}

impl Rules {
    /// Everything that the repository does not ignore: by the `.gitignore` files in the tree and above it, its
    /// `info/exclude`, and `global`, the file that the user's git is configured with. Where there is no
    /// repository, by the `.gitignore` files in the tree alone.
    #[must_use]
    pub fn of_repository(root: &Path, global: Option<&Path>) -> Self {
        let mut rules = Self::everything(root);
        rules.obeys = true;
        let Some(git) = &rules.git else {
            return rules;
        };
        let exclude = git.common.join("info/exclude");
        let mut above = Ignored::default();
        for file in [global, Some(&exclude)].into_iter().flatten() {
            above = above.and(b"", &patterns(file));
        }
        // Those above the tree; its own are met on the way down.
        let below = root.strip_prefix(&git.top).unwrap_or(Path::new(""));
        let mut dir = PathBuf::new();
        for part in below {
            let text = patterns(&git.top.join(&dir).join(".gitignore"));
            above = above.and(dir.as_os_str().as_bytes(), &text);
            dir.push(part);
        }
        rules.above = above;
        rules
    }

    /// Everything, ignored or not.
    #[must_use]
    pub fn everything(root: &Path) -> Self {
        let git = GitDir::of(root);
        let below = git
            .as_ref()
            .and_then(|git| root.strip_prefix(&git.top).ok());
        let mut prefix = below.map(|below| below.as_os_str().as_bytes().to_vec());
        if let Some(prefix) = prefix.as_mut().filter(|prefix| !prefix.is_empty()) {
            prefix.push(b'/');
        }
        Self {
            git,
            prefix: prefix.unwrap_or_default(),
            obeys: false,
            above: Ignored::default(),
            left_out: Ignored::default(),
            without: BTreeSet::new(),
            inner: false,
        }
    }

    /// Without what these patterns fit, as lines of a `.gitignore` at the top of the tree do; what the index
    /// has counts all the same.
    #[must_use]
    pub fn leaving_out<'l>(mut self, lines: impl IntoIterator<Item = &'l str>) -> Self {
        let lines: Vec<&str> = lines.into_iter().collect();
        self.left_out = self.left_out.and(b"", lines.join("\n").as_bytes());
        self
    }

    /// With the own files of repositories that lie in the tree: only those at its top do not count.
    #[must_use]
    pub fn with_inner(mut self) -> Self {
        self.inner = true;
        self
    }

    /// Without these paths and all that is in them, even if the index has them.
    #[must_use]
    pub fn without(mut self, paths: impl IntoIterator<Item = TreePath>) -> Self {
        self.without.extend(paths);
        self
    }

    /// The repository that the tree is in.
    #[must_use]
    pub fn git(&self) -> Option<&GitDir> {
        self.git.as_ref()
    }

    /// Where the tree is below the top of the repository's work tree: empty for the top itself.
    #[must_use]
    pub fn prefix(&self) -> String {
        String::from_utf8_lossy(&self.prefix).into_owned()
    }

    /// Paths of the tree that the index has.
    pub(super) fn tracked(&self) -> BTreeSet<TreePath> {
        let all = self.git.as_ref().map(tracked).unwrap_or_default();
        let below = all
            .iter()
            .filter_map(|path| path.strip_prefix(self.prefix.as_slice()));
        below.filter_map(|path| TreePath::new(path).ok()).collect()
    }

    /// The rules at the top, with the text of its `.gitignore`.
    pub(super) fn top(&self, ignore: Option<Vec<u8>>) -> Here {
        let here = Here {
            ignored: self.above.clone(),
            only_tracked: false,
        };
        self.read(here, self.prefix.trim_ascii_end(), ignore)
    }

    /// Those in a directory, with the text of its own `.gitignore`.
    pub(super) fn below(
        &self,
        here: &Here,
        dir: &TreePath,
        verdict: Verdict,
        ignore: Option<Vec<u8>>,
    ) -> Here {
        let below = Here {
            only_tracked: verdict == Verdict::Partly,
            ignored: here.ignored.clone(),
        };
        self.read(below, &self.full(dir), ignore)
    }

    fn read(&self, here: Here, dir: &[u8], ignore: Option<Vec<u8>>) -> Here {
        let dir = dir.strip_suffix(b"/").unwrap_or(dir);
        match ignore.filter(|_| self.obeys) {
            Some(text) => Here {
                ignored: here.ignored.and(dir, &text),
                ..here
            },
            None => here,
        }
    }

    /// Whether the `.gitignore` files in the tree are to be read.
    pub(super) fn obeys(&self) -> bool {
        self.obeys
    }

    /// What becomes of a path in a directory with these rules.
    pub(super) fn judge(
        &self,
        here: &Here,
        path: &TreePath,
        is_dir: bool,
        tracked: &BTreeSet<TreePath>,
    ) -> Verdict {
        let may_not_count = match self.inner {
            true => path.parent().is_none() && OWN.contains(&path.name()),
            false => is_own(path.name()),
        };
        if may_not_count || self.without.contains(path) {
            return Verdict::Out;
        }
        let is_ignored = here.only_tracked
            || self.left_out.has(path.as_bytes(), is_dir)
            || here.ignored.has(&self.full(path), is_dir);
        match (is_ignored, is_dir) {
            (false, _) => Verdict::In,
            (true, false) if tracked.contains(path) => Verdict::In,
            (true, true) if holds(tracked, path) => Verdict::Partly,
            (true, _) => Verdict::Out,
        }
    }

    fn full(&self, path: &TreePath) -> Vec<u8> {
        [&self.prefix, path.as_bytes()].concat()
    }
}

/// Whether one of the paths lies in a directory.
fn holds(tracked: &BTreeSet<TreePath>, dir: &TreePath) -> bool {
    // Names that go on with a letter before `/`, such as `a-b` beside `a`, stand between.
    let first = TreePath::in_dir(Some(dir), b"\0");
    tracked
        .range(first..)
        .next()
        .is_some_and(|path| path.is_in(dir))
}

/// The lines of a file of patterns; none where it is none, or cannot be read.
fn patterns(file: &Path) -> Vec<u8> {
    read_plain(file, PATTERNS)
        .ok()
        .flatten()
        .unwrap_or_default()
}
