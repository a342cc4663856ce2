//! Carson's own bare clone of a repository.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::info;

use crate::config::Own;
use crate::error::{GitError, io};
use crate::git::{CLONE, Git, REMOTE};
use crate::oid::Oid;
use crate::remote::Remote;
use crate::scratch;
use crate::worktree::{IdleRef, remove_tree};

/// How long to wait for another firing that fetches into the same mirror.
const LOCK_WAIT: Duration = Duration::from_secs(300);

/// A bare clone. Cheap to make; nothing happens before [`refresh`](Self::refresh).
#[derive(Clone, Debug)]
pub struct Mirror {
    path: PathBuf,
    pub(crate) remote: Remote,
}

impl Mirror {
    /// The mirror of a remote at `path`, which ends in `.git`; files beside it with other endings
    /// are ours too.
    #[must_use]
    pub fn at(path: PathBuf, remote: impl Into<Remote>) -> Self {
        Self {
            path,
            remote: remote.into(),
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Clones when it is missing, else fetches. Never touches the firings' own branches nor kept
    /// refs. A clone appears whole or not at all.
    ///
    /// # Errors
    /// When the remote cannot be reached or another process fetches for too long.
    pub async fn refresh(&self) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        scratch::sweep(&self.path);
        if self.path.join("HEAD").is_file() {
            return self.fetch(REMOTE).await;
        }
        let half = Self {
            path: self.path.with_extension("clone"),
            remote: self.remote.clone(),
        };
        remove_tree(&half.path)?;
        // No template: the operator's hooks and ignore rules have no place here.
        let init = Git::new(&half.path, "init").args(["--bare", "--quiet", "--template="]);
        // Nor has their choice of formats: libgit2 reads these.
        let init = init.config("init.defaultRefFormat", "files");
        let init = init.args(["--object-format=sha1", "--"]).arg(&half.path);
        init.text().await?;
        half.fetch(CLONE).await?;
        // Each was a file of its own; every set-up and every taking-in reads them all.
        half.git("pack-refs").arg("--all").text().await?;
        info!(mirror = %self.path.display(), "repository cloned");
        std::fs::rename(&half.path, &self.path).map_err(|source| io(&self.path, source))
    }

    async fn fetch(&self, within: Duration) -> Result<(), GitError> {
        let fetch = self.remote_git("fetch")?.within(within).args([
            "--quiet",
            "--prune",
            // A tag that moved is followed; none is pruned.
            "--tags",
            "--force",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "carson",
        ]);
        let done = fetch.finish().await?;
        if done.success() {
            Ok(())
        } else {
            Err(self.refused(&done))
        }
    }

    /// Waits for its turn. The lock goes with the file, also when we are killed.
    async fn lock(&self) -> Result<File, GitError> {
        let path = self.path.with_extension("lock");
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|source| io(dir, source))?;
        }
        let file = File::create(&path).map_err(|source| io(&path, source))?;
        let until = Instant::now() + LOCK_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    sleep(Duration::from_millis(20)).await;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(GitError::Locked {
                        path: self.path.clone(),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(io(&path, source)),
            }
        }
    }

    /// The newest fetched commit of a branch of the remote.
    ///
    /// # Errors
    /// When there is no such branch.
    pub async fn resolve(&self, base: &str) -> Result<Oid, GitError> {
        if let Some(oid) = self
            .ref_target(&format!("refs/remotes/origin/{base}"))
            .await?
        {
            return Ok(oid);
        }
        let list = self.git("for-each-ref");
        let list = list.args([
            "--count=10",
            "--format=%(refname:lstrip=3)",
            "refs/remotes/origin",
        ]);
        let have: Vec<String> = list.text().await?.lines().map(str::to_owned).collect();
        if have.is_empty() {
            return Err(GitError::Empty {
                url: self.remote.shown(),
            });
        }
        Err(GitError::BaseMissing {
            base: base.to_owned(),
            have,
        })
    }

    /// What a full ref name points to; a name that cannot be one points nowhere.
    pub(crate) async fn ref_target(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let name = name.to_owned();
        self.read(move |repo| match repo.refname_to_id(&name) {
            Ok(oid) => Ok(Some(oid.into())),
            Err(error) => match error.code() {
                git2::ErrorCode::NotFound | git2::ErrorCode::InvalidSpec => Ok(None),
                _ => Err(error),
            },
        })
        .await
    }

    /// Keeps a commit under `refs/carson/salvage/<firing>`; the ref's name. What the ref held
    /// before stays reachable: when the commit does not descend from it, a number is appended.
    ///
    /// # Errors
    /// When the ref cannot be written.
    pub async fn keep_ref(&self, firing: &str, oid: &Oid) -> Result<String, GitError> {
        let (mut name, mut next) = (format!("refs/carson/salvage/{firing}"), 2);
        loop {
            let held = self.ref_target(&name).await?;
            let free = match &held {
                None => true,
                Some(held) => self.descends(oid, held).await?,
            };
            if free {
                self.move_ref(&name, oid, held.as_ref()).await?;
                return Ok(name);
            }
            name = format!("refs/carson/salvage/{firing}-{next}");
            next += 1;
        }
    }

    /// Points a ref at a commit, if it still points where it did.
    pub(crate) async fn move_ref(
        &self,
        name: &str,
        to: &Oid,
        from: Option<&Oid>,
    ) -> Result<(), GitError> {
        let from = from.map_or(Oid::NONE, Oid::as_str);
        let update = self
            .git("update-ref")
            .args(["--no-deref", "--", name, to.as_str(), from]);
        update.text().await.map(drop)
    }

    async fn delete_ref(&self, name: &str, at: &Oid) -> Result<(), GitError> {
        let delete = self
            .git("update-ref")
            .args(["--no-deref", "-d", "--", name, at.as_str()]);
        delete.text().await.map(drop)
    }

    /// Removes refs, all of them by one command. When one of them has moved the others go
    /// nevertheless.
    ///
    /// # Errors
    /// When one moved, or could not be removed.
    pub async fn delete_refs(&self, all: &[IdleRef]) -> Result<(), GitError> {
        if all.is_empty() {
            return Ok(());
        }
        let line = |IdleRef { name, at }: &IdleRef| format!("delete {name} {at}\n");
        let list: String = all.iter().map(line).collect();
        let delete = self.git("update-ref").args(["--no-deref", "--stdin"]);
        let together = delete.stdin(list.into_bytes()).text().await.map(drop);
        if together.is_ok() || all.len() == 1 {
            return together;
        }
        let mut outcome = Ok(());
        for IdleRef { name, at } in all {
            let one = self.delete_ref(name, at).await;
            outcome = outcome.and(one);
        }
        outcome
    }

    /// Whether the first commit is the second or has it in its history. A commit that the mirror
    /// does not have descends from nothing.
    pub(crate) async fn descends(&self, commit: &Oid, from: &Oid) -> Result<bool, GitError> {
        let (commit, from) = (commit.git2(), from.git2());
        self.read(move |repo| {
            if commit == from {
                return Ok(true);
            }
            let known = repo.find_commit(commit).is_ok() && repo.find_commit(from).is_ok();
            if known {
                repo.graph_descendant_of(commit, from)
            } else {
                Ok(false)
            }
        })
        .await
    }

    /// Whether the mirror has this commit.
    pub(crate) async fn has_commit(&self, commit: &Oid) -> Result<bool, GitError> {
        let commit = commit.git2();
        self.read(move |repo| Ok(repo.find_commit(commit).is_ok()))
            .await
    }

    /// The tree of a commit.
    pub(crate) async fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let commit = commit.git2();
        self.read(move |repo| Ok(repo.find_commit(commit)?.tree_id().into()))
            .await
    }

    /// Whether the file `path` of a commit has a line `line`, counted from 1; 0 asks for the file.
    pub async fn has_line_at(&self, commit: &Oid, path: &str, line: u32) -> bool {
        let (commit, path) = (commit.git2(), path.to_owned());
        let lines = self.read(move |repo| {
            let tree = repo.find_commit(commit)?.tree()?;
            let blob = tree
                .get_path(Path::new(&path))?
                .to_object(repo)?
                .peel_to_blob()?;
            let text = blob.content();
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            let empty = blob.content().is_empty();
            Ok(if empty {
                0
            } else {
                text.split(|byte| *byte == b'\n').count()
            })
        });
        lines.await.is_ok_and(|lines| lines >= line as usize)
    }

    /// A command on this repository.
    pub(crate) fn git(&self, verb: &str) -> Git {
        Git::new(&self.path, verb).owning(Own::new(self.path.clone(), &self.remote.shown()))
    }

    /// Reads with libgit2, off the async threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&git2::Repository) -> Result<T, git2::Error> + Send + 'static,
    ) -> Result<T, GitError> {
        self::read(self.path.clone(), read).await
    }
}

/// Reads a repository of ours with libgit2, off the async threads.
pub(crate) async fn read<T: Send + 'static>(
    path: PathBuf,
    read: impl FnOnce(&git2::Repository) -> Result<T, git2::Error> + Send + 'static,
) -> Result<T, GitError> {
    let result = tokio::task::spawn_blocking(move || {
        let repo = git2::Repository::open_bare(&path);
        repo.and_then(|repo| read(&repo))
            .map_err(|source| GitError::Read { path, source })
    });
    result.await.unwrap_or_else(|panic| {
        Err(GitError::Failed {
            verb: "read".into(),
            detail: panic.to_string(),
        })
    })
}

#[cfg(test)]
mod tests;
