//! Brings the index of a repository back, and names what a person staged since. HEAD stays where it is.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture, find_on_path};

use crate::caller::Caller;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::own_git::NOTHING_RUNS;
use crate::tree::{Contents, GitDir, Index, Missed, TreePath, read_plain};

/// How long a git may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of an index.
const INDEX: u64 = 1 << 30;
/// Bytes that a git prints and are read.
const PRINTED: usize = 256 << 20;
/// Commits that are told.
const TOLD: &str = "20";

/// What of an index is a person's since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Staged {
    /// What it says of these paths, from the top of the work tree.
    Paths(BTreeSet<Vec<u8>>),
    /// Something, and nobody can say of which paths: it is split, or is none.
    Something,
}

impl Default for Staged {
    fn default() -> Self {
        Self::Paths(BTreeSet::new())
    }
}

/// An index as it is now, and as it was then.
#[derive(Debug)]
pub(crate) struct Indexes<'i> {
    git: &'i GitDir,
    /// Where the tree is below the top of the work tree: only what is said of that is compared, and comes back.
    prefix: String,
    now: Vec<u8>,
    then: Vec<u8>,
}

/// What came of putting one back.
#[derive(Debug, Default)]
pub(crate) struct Put {
    /// Whether it said something else before.
    pub changed: bool,
    /// What of it could not be put back.
    pub missed: Vec<Missed>,
}

impl<'i> Indexes<'i> {
    /// The one of a repository now, and the one that was kept then.
    pub(crate) fn read(
        git: &'i GitDir,
        prefix: String,
        contents: &Contents,
        then: &Digest,
    ) -> Result<Self, LoopError> {
        Ok(Self {
            now: bytes_of(git)?,
            then: kept(contents, then)?,
            prefix,
            git,
        })
    }

    /// What somebody else staged since the loop `left` the index, of what would change. What HEAD has is not lost.
    pub(crate) async fn staged(
        &self,
        caller: &Caller,
        contents: &Contents,
        left: Option<&Digest>,
    ) -> Result<Staged, LoopError> {
        let left = left.map(|left| kept(contents, left)).transpose()?;
        if self.now == self.then || left.as_ref() == Some(&self.now) {
            return Ok(Staged::default());
        }
        let (Some(now), Some(then)) = (whole(&self.now), whole(&self.then)) else {
            return Ok(Staged::Something);
        };
        let mut paths = now.differs(&then);
        paths.retain(|path| path.starts_with(self.prefix.as_bytes()));
        if let Some(left) = left {
            let Some(left) = whole(&left) else {
                return Ok(Staged::Something);
            };
            let since = left.differs(&now);
            paths.retain(|path| since.contains(path));
        }
        if !paths.is_empty()
            && let Some(uncommitted) = uncommitted(&self.git.top, caller).await
        {
            paths.retain(|path| uncommitted.contains(path) || now.is_marked(path));
        }
        Ok(Staged::Paths(paths))
    }

    /// What is told of what somebody staged.
    pub(crate) fn told(&self, staged: &Staged) -> Vec<String> {
        match staged {
            Staged::Something => vec![at_index().to_string()],
            Staged::Paths(paths) => {
                let all = paths.iter().filter_map(|path| self.below(path));
                all.map(|path| format!("{path} (staged)")).collect()
            }
        }
    }

    /// Puts the one of then in its place, but for what is kept as it is now.
    pub(crate) fn put(&self, kept: &Staged) -> Result<Put, LoopError> {
        let Staged::Paths(kept) = kept else {
            return Ok(Put::default());
        };
        let both = (Index::of(&self.now), Index::of(&self.then));
        let is_same = |now: &Index, then: &Index| {
            let mut differs = now.differs(then).into_iter();
            !now.is_partial && !then.is_partial && !differs.any(|path| self.comes_back(&path, kept))
        };
        if self.now == self.then || matches!(&both, (Some(now), Some(then)) if is_same(now, then)) {
            return Ok(Put::default());
        }
        let (bytes, without) = match both {
            _ if self.prefix.is_empty() && kept.is_empty() => {
                (self.then.clone(), BTreeSet::default())
            }
            (Some(now), Some(then)) => match now.with(&then, |path| self.comes_back(path, kept)) {
                Some((both, without)) => (both.bytes(), without),
                None => return Ok(no_part()),
            },
            _ => return Ok(no_part()),
        };
        self.replace(&bytes)?;
        let without = without.iter().filter_map(|path| self.below(path));
        let missed = without.map(|path| Missed {
            why: "it was in the index, where something that is kept has its place".to_owned(),
            path,
        });
        Ok(Put {
            changed: true,
            missed: missed.collect(),
        })
    }

    fn comes_back(&self, path: &[u8], kept: &BTreeSet<Vec<u8>>) -> bool {
        path.starts_with(self.prefix.as_bytes()) && !kept.contains(path)
    }

    /// A path from the top of the work tree as one of the tree.
    fn below(&self, path: &[u8]) -> Option<TreePath> {
        TreePath::new(path.strip_prefix(self.prefix.as_bytes())?).ok()
    }

    /// As git itself writes it: under its lock, whole.
    fn replace(&self, bytes: &[u8]) -> Result<(), LoopError> {
        let (index, lock) = (self.git.index(), self.git.dir.join("index.lock"));
        let mut options = OpenOptions::new();
        let mut file = match options.write(true).create_new(true).mode(0o666).open(&lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(LoopError::IndexLocked { path: lock });
            }
            other => other.map_err(LoopError::io(format!("{}", lock.display())))?,
        };
        let mut put = || {
            if bytes_of(self.git)? != self.now {
                let said = "the index was written meanwhile: nothing was changed, say so again";
                return Err(LoopError::Unfit(said.to_owned()));
            }
            let written = file.write_all(bytes).and_then(|()| match bytes {
                // There was none.
                [] => fs::remove_file(&index).and_then(|()| fs::remove_file(&lock)),
                _ => fs::rename(&lock, &index),
            });
            written.map_err(LoopError::io(format!("{}", index.display())))
        };
        put().inspect_err(|_| {
            let _ = fs::remove_file(&lock);
        })
    }
}

fn no_part() -> Put {
    let missed = Missed {
        path: at_index(),
        why: "it is split or sparse, or was: no part of it is put back, and it stays as it is"
            .to_owned(),
    };
    Put {
        changed: false,
        missed: vec![missed],
    }
}

fn at_index() -> TreePath {
    TreePath::in_dir(Some(&TreePath::in_dir(None, b".git")), b"index")
}

/// The bytes of the index; none where there is none.
fn bytes_of(git: &GitDir) -> Result<Vec<u8>, LoopError> {
    let path = git.index();
    let read = match read_plain(&path, INDEX) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(Vec::new())),
        other => other,
    };
    let read = read.map_err(LoopError::io(format!("{}", path.display())))?;
    let unfit = || LoopError::Unfit(format!("{} is no plain file", path.display()));
    read.ok_or_else(unfit)
}

fn kept(contents: &Contents, index: &Digest) -> Result<Vec<u8>, LoopError> {
    let mut bytes = Vec::new();
    contents.copy(index, &mut bytes)?;
    Ok(bytes)
}

/// An index that has all of its entries itself.
fn whole(bytes: &[u8]) -> Option<Index> {
    Index::of(bytes).filter(|index| index.shared.is_none())
}

/// The paths of which HEAD has something else than the index; `None` where nobody can say.
async fn uncommitted(top: &Path, caller: &Caller) -> Option<BTreeSet<Vec<u8>>> {
    let args = [
        "diff-index",
        "--cached",
        "--name-only",
        "--no-renames",
        "--ita-visible-in-index",
        "-z",
        "HEAD",
        "--",
    ];
    let said = run(top, caller, &args).await.ok()?;
    let paths = said.split(|byte| *byte == 0);
    Some(paths.map(<[u8]>::to_vec).collect())
}

/// What git knows of commits on HEAD that an older one does not have, newest first: a line each. Without an older one,
/// all of them.
pub(crate) async fn commits_since(root: &Path, caller: &Caller, old: Option<&str>) -> Vec<String> {
    let behind = old.map(|old| format!("^{old}"));
    let mut list = vec!["rev-list", "--oneline", "--max-count", TOLD, "HEAD"];
    list.extend(behind.as_deref());
    list.push("--");
    let said = run(root, caller, &list).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    said.lines().map(str::to_owned).collect()
}

async fn run(dir: &Path, caller: &Caller, args: &[&str]) -> Result<Vec<u8>, LoopError> {
    let path = caller.variable("PATH");
    let git = find_on_path(Path::new("git"), path).unwrap_or_else(|| PathBuf::from("/usr/bin/git"));
    // Nothing that points elsewhere, and nothing that a repository's settings run.
    let own = |(name, _): &&(OsString, OsString)| !name.to_string_lossy().starts_with("GIT_");
    let mut env: Vec<_> = caller.env.iter().filter(own).cloned().collect();
    env.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
    env.push(("LC_ALL".into(), "C".into()));
    let command = Command::new(git, dir)
        .args(NOTHING_RUNS.iter().flat_map(|one| ["-c", one]))
        .args(args.iter().copied())
        .exact_env(env);
    let limits = Limits {
        keep: PRINTED,
        max_output: PRINTED as u64,
        ..Limits::within(PATIENCE)
    };
    let done = capture(&command, &limits).await?;
    match done.success() {
        true => Ok(done.stdout.bytes()),
        false => {
            let verb = args.first().copied().unwrap_or_default();
            Err(LoopError::Unfit(format!(
                "git {verb}: {}",
                done.stderr.text().trim()
            )))
        }
    }
}
