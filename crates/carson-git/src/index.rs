//! An index file of our own. The session's is only ever copied: a lock that a killed tool left
//! behind does not matter, and hidden entries do not stay hidden.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::abandoned::parse;
use crate::error::GitError;
use crate::git::Git;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::quarantine::Quarantine;
use crate::scratch::Scratch;

/// Mode of an entry that is the name of a commit: a submodule, or a repository of its own.
const GITLINK: u32 = 0o160_000;
/// The session told git not to look at this file.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// The index; its file goes with the value.
pub(crate) struct Index {
    mirror: Mirror,
    file: Scratch,
}

/// What an index says about paths.
#[derive(Default)]
pub(crate) struct Listed {
    /// Entries that are names of commits.
    pub links: Vec<PathBuf>,
    /// All other entries.
    pub files: Vec<PathBuf>,
    /// All directories that hold entries, without the top.
    pub dirs: Vec<PathBuf>,
}

impl Index {
    pub(crate) fn empty(mirror: &Mirror) -> Result<Self, GitError> {
        let file = Scratch::name(mirror.path(), "index")?;
        Ok(Self {
            mirror: mirror.clone(),
            file,
        })
    }

    /// A copy of another, when there is one.
    pub(crate) fn copy_of(mirror: &Mirror, other: &Path) -> Result<Option<Self>, GitError> {
        let index = Self::empty(mirror)?;
        Ok(fs::copy(other, index.path()).is_ok().then_some(index))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Tells one state of the file from another.
    pub(crate) fn stamp(&self) -> Option<(u64, i64, i64)> {
        let found = fs::metadata(self.path()).ok()?;
        Some((found.ino(), found.mtime(), found.mtime_nsec()))
    }

    /// A command with this index and no files.
    pub(crate) fn git(&self, verb: &str) -> Git {
        self.mirror.git(verb).env("GIT_INDEX_FILE", self.path())
    }

    /// A command with this index and the files below `root`. The `.git` in there is never asked:
    /// the session could have written it.
    pub(crate) fn git_on(&self, root: &Path, verb: &str) -> Git {
        self.git(verb)
            .env("GIT_WORK_TREE", root)
            .config("core.bare", "false")
    }

    pub(crate) async fn write_tree(&self) -> Result<Oid, GitError> {
        parse(&self.git("write-tree").text().await?)
    }

    /// The same in the quarantine: what the session staged is not the mirror's yet.
    pub(crate) async fn write_tree_in(&self, quarantine: &Quarantine) -> Result<Oid, GitError> {
        let write = quarantine.git("write-tree");
        parse(&write.env("GIT_INDEX_FILE", self.path()).text().await?)
    }

    /// The same without a process, when nothing is staged beyond this commit: so it is for most
    /// benches that are pruned, and a process for each of them is most of that time.
    pub(crate) async fn tree_if_clean(
        &self,
        quarantine: &Quarantine,
        head: Option<&Oid>,
    ) -> Option<Oid> {
        let (file, head) = (self.path().to_owned(), head?.git2());
        let written = quarantine.read(move |repo| {
            // What it writes, when the index does not know its tree already, goes with the quarantine.
            let tree = git2::Index::open(&file)?.write_tree_to(repo)?;
            Ok((tree == repo.find_commit(head)?.tree_id()).then(|| tree.into()))
        });
        written.await.ok().flatten()
    }

    /// Takes out what is in the middle of a conflict; whether there was any.
    pub(crate) async fn drop_unmerged(&self) -> Result<bool, GitError> {
        let list = self.git("ls-files").args(["--unmerged", "-z"]).finish();
        let list = list.await?.stdout.bytes();
        let path = |line: &OsStr| {
            let at = line.as_bytes().iter().position(|byte| *byte == b'\t')?;
            Some(path_of(&line.as_bytes()[at + 1..]))
        };
        let unmerged: Vec<PathBuf> = paths(&list).filter_map(path).collect();
        if unmerged.is_empty() {
            return Ok(false);
        }
        self.feed(self.mirror.path(), "--force-remove", &unmerged)
            .await?;
        Ok(true)
    }

    /// Takes up files by their content, ignored ones too; those that are gone are left out.
    pub(crate) async fn add(&self, root: &Path, files: &[PathBuf]) -> Result<(), GitError> {
        let there = |path: &&PathBuf| {
            let found = root.join(path).symlink_metadata();
            found.is_ok_and(|found| found.is_file() || found.is_symlink())
        };
        let there: Vec<PathBuf> = files.iter().filter(there).cloned().collect();
        if there.is_empty() {
            return Ok(());
        }
        self.feed(root, "--add", &there).await
    }

    /// Begins again with a commit's tree.
    pub(crate) async fn read_tree(&self, commit: &Oid) -> Result<(), GitError> {
        let _ = fs::remove_file(self.path());
        self.git("read-tree")
            .arg(commit.as_str())
            .text()
            .await
            .map(drop)
    }

    /// Puts a tree in the place of what is at `path`.
    pub(crate) async fn graft(&self, root: &Path, path: &Path, tree: &Oid) -> Result<(), GitError> {
        let listed = self.list().await?;
        let all = listed.files.into_iter().chain(listed.links);
        let there: Vec<PathBuf> = all.filter(|one| one.starts_with(path)).collect();
        if !there.is_empty() {
            self.feed(root, "--force-remove", &there).await?;
        }
        let mut prefix = OsString::from("--prefix=");
        prefix.push(path);
        prefix.push("/");
        self.git_on(root, "read-tree")
            .arg(prefix)
            .arg(tree.as_str())
            .text()
            .await
            .map(drop)
    }

    /// Makes git look again at files below `root` that the session had told it not to look at.
    pub(crate) async fn unhide(&self, root: &Path) -> Result<(), GitError> {
        let (file, below) = (self.path().to_owned(), root.to_owned());
        let hidden = blocking(move || hidden(&file, &below)).await?;
        if !hidden.is_empty() {
            self.feed(root, "--no-assume-unchanged", &hidden).await?;
            self.feed(root, "--no-skip-worktree", &hidden).await?;
        }
        Ok(())
    }

    async fn feed(&self, root: &Path, flag: &str, paths: &[PathBuf]) -> Result<(), GitError> {
        let mut list = Vec::new();
        for path in paths {
            list.extend(path.as_os_str().as_bytes());
            list.push(0);
        }
        let update = self
            .git_on(root, "update-index")
            .args([flag, "-z", "--stdin"]);
        update.stdin(list).text().await.map(drop)
    }

    pub(crate) async fn list(&self) -> Result<Listed, GitError> {
        let file = self.path().to_owned();
        blocking(move || listed(&file)).await
    }
}

async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, git2::Error> + Send + 'static,
) -> Result<T, GitError> {
    let fail = |detail: String| GitError::Failed {
        verb: "ls-files".into(),
        detail,
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read.map_err(|error| fail(error.to_string())),
        Err(panic) => Err(fail(panic.to_string())),
    }
}

/// Entries that git would not look at, although there is a file. Sparse checkouts mark what has
/// no file in the same way; those stay marked.
fn hidden(file: &Path, root: &Path) -> Result<Vec<PathBuf>, git2::Error> {
    let skipped = git2::IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
    let index = git2::Index::open(file)?;
    let hidden = index.iter().filter(|entry| {
        entry.flags & ASSUME_UNCHANGED != 0
            || (entry.flags_extended & skipped != 0
                && root.join(path_of(&entry.path)).symlink_metadata().is_ok())
    });
    Ok(hidden.map(|entry| path_of(&entry.path)).collect())
}

fn listed(file: &Path) -> Result<Listed, git2::Error> {
    let mut found = Listed::default();
    for entry in git2::Index::open(file)?.iter() {
        let path = path_of(&entry.path);
        if entry.mode == GITLINK {
            found.links.push(path.clone());
        } else {
            found.files.push(path.clone());
        }
        // Entries are sorted, so a directory seen last is the usual case.
        let mut dir = path.parent();
        while let Some(one) = dir.filter(|dir| !dir.as_os_str().is_empty()) {
            if found.dirs.last().is_some_and(|last| last.starts_with(one)) {
                break;
            }
            found.dirs.push(one.to_owned());
            dir = one.parent();
        }
    }
    found.dirs.sort();
    found.dirs.dedup();
    Ok(found)
}

/// A path as git stores it: bytes.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// NUL-separated output as paths.
pub(crate) fn paths(list: &[u8]) -> impl Iterator<Item = &OsStr> {
    list.split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(OsStr::from_bytes)
}
