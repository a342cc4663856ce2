//! Carson's own bare clone of a repository.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::info;

use crate::branch::is_protected;
use crate::error::GitError;
use crate::git::{Git, REMOTE, detail};
use crate::oid::Oid;
use crate::worktree::Worktree;

/// How long to wait for another firing that fetches into the same mirror.
const LOCK_WAIT: Duration = Duration::from_secs(300);

/// A bare clone. Cheap to make; nothing happens before [`refresh`](Self::refresh).
#[derive(Clone, Debug)]
pub struct Mirror {
    path: PathBuf,
    url: String,
}

/// What a push did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has the branch now, at its newest commit.
    Done,
    /// It had it before.
    UpToDate,
}

impl Mirror {
    /// The mirror of `url` at `path`.
    #[must_use]
    pub fn at(path: PathBuf, url: impl Into<String>) -> Self {
        Self {
            path,
            url: url.into(),
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
        if self.path.join("HEAD").is_file() {
            self.git("config")
                .args(["remote.origin.url", self.url.as_str()])
                .text()
                .await?;
            return fetch(&self.path, &self.url).await;
        }
        let half = self.path.with_extension("clone");
        if half.exists() {
            remove_dir(&half)?;
        }
        Git::new(&half, "init")
            .args(["--bare", "--quiet"])
            .arg(&half)
            .text()
            .await?;
        let config = |key: &str, value: &str| Git::new(&half, "config").args([key, value]).text();
        config("remote.origin.url", &self.url).await?;
        config("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*").await?;
        fetch(&half, &self.url).await?;
        info!(mirror = %self.path.display(), "repository cloned");
        std::fs::rename(&half, &self.path).map_err(|source| io(&self.path, source))
    }

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
        let wanted = format!("refs/remotes/origin/{base}");
        if let Some(oid) = self.ref_target(&wanted).await? {
            return Ok(oid);
        }
        let have = self
            .git("for-each-ref")
            .args([
                "--count=10",
                "--format=%(refname:lstrip=3)",
                "refs/remotes/origin",
            ])
            .text()
            .await?;
        let have: Vec<String> = have.lines().map(str::to_owned).collect();
        if have.is_empty() {
            return Err(GitError::Empty {
                url: self.url.clone(),
            });
        }
        Err(GitError::BaseMissing {
            base: base.to_owned(),
            have,
        })
    }

    /// What a full ref name points to.
    pub(crate) async fn ref_target(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let name = name.to_owned();
        self.read(move |repo| match repo.find_reference(&name) {
            Ok(reference) => Ok(reference
                .target()
                .and_then(|oid| oid.to_string().parse().ok())),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Makes a worktree with a new branch at `base`.
    ///
    /// # Errors
    /// When the branch exists or the checkout fails.
    pub async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        base: &Oid,
    ) -> Result<Worktree, GitError> {
        if self
            .ref_target(&format!("refs/heads/{branch}"))
            .await?
            .is_some()
        {
            return Err(GitError::BranchExists {
                branch: branch.to_owned(),
            });
        }
        self.git("worktree")
            .args(["add", "--quiet", "--no-track", "-b", branch])
            .arg(path)
            .arg(base.as_str())
            .text()
            .await?;
        Ok(Worktree::open(
            self,
            path.to_owned(),
            branch.to_owned(),
            base.clone(),
        ))
    }

    /// Pushes a firing's branch under its own name; never forced, never a protected one.
    ///
    /// # Errors
    /// When it is protected, refused, or the remote cannot be reached.
    pub async fn push(&self, branch: &str, protected: &[String]) -> Result<Pushed, GitError> {
        if is_protected(protected, branch) {
            return Err(GitError::Protected {
                branch: branch.to_owned(),
            });
        }
        let local = format!("refs/heads/{branch}");
        let before = self
            .ref_target(&format!("refs/remotes/origin/{branch}"))
            .await?;
        if before.is_some() && before == self.ref_target(&local).await? {
            return Ok(Pushed::UpToDate);
        }
        let done = self
            .git("push")
            .args(["--porcelain", "--no-verify", "origin", "--"])
            .arg(format!("{local}:{local}"))
            .within(REMOTE)
            .finish()
            .await?;
        if done.success() {
            return Ok(Pushed::Done);
        }
        let said = format!("{}; {}", detail(&done), done.stdout.text().trim());
        if said.contains("[rejected]") || said.contains("[remote rejected]") {
            return Err(GitError::PushRejected {
                branch: branch.to_owned(),
                detail: said,
            });
        }
        Err(GitError::RemoteGone {
            url: self.url.clone(),
            detail: said,
        })
    }

    /// Keeps a commit under `refs/carson/salvage/<firing>`; the ref's name.
    ///
    /// # Errors
    /// When the ref cannot be written.
    pub async fn keep_ref(&self, firing: &str, oid: &Oid) -> Result<String, GitError> {
        let name = format!("refs/carson/salvage/{firing}");
        self.git("update-ref")
            .args([name.as_str(), oid.as_str()])
            .text()
            .await?;
        Ok(name)
    }

    /// Whether the file `path` of a commit has at least `line` lines.
    pub async fn has_line_at(&self, commit: &Oid, path: &str, line: u32) -> bool {
        let (commit, path) = (commit.clone(), path.to_owned());
        let lines = self.read(move |repo| {
            let tree = repo
                .find_commit(git2::Oid::from_str(commit.as_str())?)?
                .tree()?;
            let blob = tree
                .get_path(Path::new(&path))?
                .to_object(repo)?
                .peel_to_blob()?;
            Ok(blob.content().split(|byte| *byte == b'\n').count())
        });
        lines.await.is_ok_and(|lines| lines >= line as usize)
    }

    /// A command on this repository.
    pub(crate) fn git(&self, verb: &str) -> Git {
        Git::new(&self.path, verb)
    }

    /// Reads with libgit2, off the async threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&git2::Repository) -> Result<T, git2::Error> + Send + 'static,
    ) -> Result<T, GitError> {
        let path = self.path.clone();
        let result = tokio::task::spawn_blocking(move || {
            let repo = git2::Repository::open_bare(&path);
            repo.and_then(|repo| read(&repo))
                .map_err(|source| GitError::Read { path, source })
        });
        result.await.unwrap_or_else(|panic| {
            let detail = panic.to_string();
            Err(GitError::Failed {
                verb: "read".into(),
                detail,
            })
        })
    }
}

async fn fetch(dir: &Path, url: &str) -> Result<(), GitError> {
    let done = Git::new(dir, "fetch")
        .args([
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-recurse-submodules",
            "origin",
        ])
        .within(REMOTE)
        .finish()
        .await?;
    if done.success() {
        return Ok(());
    }
    Err(GitError::RemoteGone {
        url: url.to_owned(),
        detail: detail(&done),
    })
}

pub(crate) fn io(path: &Path, source: std::io::Error) -> GitError {
    GitError::Io {
        path: path.to_owned(),
        source,
    }
}

pub(crate) fn remove_dir(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(io(path, source)),
        _ => Ok(()),
    }
}
