//! Carson's own bare clone of a repository.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::inspector::Inspector;
use tokio::time::{Instant, sleep};
use tracing::info;

use crate::bare::Bare;
use crate::config::Own;
use crate::durable;
use crate::error::{GitError, io};
use crate::git::Git;
use crate::oid::Oid;
use crate::ref_change::RefChange;
use crate::remote::Remote;
use crate::scratch;
use crate::timeouts::{CLONE, REMOTE};
use crate::torn;

/// Refs that hold the commits on which kept work stands, each named after its commit.
pub(crate) const BASES: &str = "refs/carson/base/";

/// How git says that a branch was left out because its history is cut off.
const SHALLOW: &str = "because shallow roots are not allowed to be updated";

/// How long to wait for another firing that fetches into the same mirror.
const LOCK_WAIT: Duration = Duration::from_secs(300);

/// A bare clone. Cheap to make; nothing happens before [`refresh`](Self::refresh).
#[derive(Clone, Debug)]
pub struct Mirror {
    pub(crate) bare: Bare,
    pub(crate) remote: Remote,
    /// Who reads what sessions write.
    pub(crate) inspector: Inspector,
}

impl Mirror {
    /// The mirror of a remote at `path`, which ends in `.git`; files beside it with other endings
    /// are ours too.
    #[must_use]
    pub fn at(path: PathBuf, remote: impl Into<Remote>, inspector: Inspector) -> Self {
        let remote = remote.into();
        let own = Own::new(path.clone(), &remote.shown());
        Self {
            bare: Bare::new(path, own),
            remote,
            inspector,
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.bare.path()
    }

    /// Clones when it is missing, else fetches. Never touches the firings' own branches nor kept
    /// refs. A clone appears whole or not at all.
    ///
    /// # Errors
    /// When the remote cannot be reached or another process fetches for too long.
    pub async fn refresh(&self) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        scratch::sweep(self.path());
        self.kept().make()?;
        scratch::sweep(self.kept().path());
        torn::mend_head(self.path())?;
        if self.path().join("HEAD").is_file() {
            let fetched = self.fetch(REMOTE).await;
            // Once: what is broken still is the remote's.
            return match fetched.is_err() && self.mend_refs().await? {
                true => self.fetch(REMOTE).await,
                false => fetched,
            };
        }
        let half = Self::at(
            self.path().with_extension("clone"),
            self.remote.clone(),
            self.inspector.clone(),
        );
        clear(half.path())?;
        // No template: the operator's hooks and ignore rules have no place here.
        let init = Git::new(half.path(), "init").args(["--bare", "--quiet", "--template="]);
        // Nor has their choice of formats: libgit2 reads these.
        let init = init.config("init.defaultRefFormat", "files");
        let init = init.args(["--object-format=sha1", "--"]).arg(half.path());
        init.text().await?;
        half.fetch(CLONE).await?;
        // Each was a file of its own; every set-up and every taking-in reads them all.
        half.bare.git("pack-refs").arg("--all").text().await?;
        durable::tree(half.path())?;
        std::fs::rename(half.path(), self.path()).map_err(|source| io(self.path(), source))?;
        info!(mirror = %self.path().display(), "repository cloned");
        durable::name(self.path(), self.path().parent().unwrap_or(self.path()))
    }

    /// Removes what is broken of the refs that a fetch brings again, and of those that name what they hold, which are written
    /// anew. Whether there was one: git fetches nothing then, and says that the remote did not send it.
    async fn mend_refs(&self) -> Result<bool, GitError> {
        let mut is_mended = false;
        for fetched in ["refs/remotes/origin", "refs/tags"] {
            is_mended |= !torn::remove_refs(self.path(), fetched)?.is_empty();
        }
        for name in torn::remove_refs(self.path(), BASES)? {
            is_mended = true;
            if let Some(Ok(base)) = name.strip_prefix(BASES).map(str::parse) {
                self.hold_base(&base).await?;
            }
        }
        Ok(is_mended)
    }

    async fn fetch(&self, within: Duration) -> Result<(), GitError> {
        self.is_whole()?;
        if self.has_nothing_new().await {
            return Ok(());
        }
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
        // Git warns, leaves the branch out, and says that all is well.
        if done.stderr.text().contains(SHALLOW) {
            return Err(GitError::Shallow {
                url: self.remote.shown(),
            });
        }
        match done.success() {
            true => Ok(()),
            false => Err(self.remote.refused(&done)),
        }
    }

    /// A shallow clone on this machine is known before anything is asked of it.
    pub(crate) fn is_whole(&self) -> Result<(), GitError> {
        let url = &self.remote.url;
        let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
        let cut = ["shallow", ".git/shallow"].map(|name| path.join(name));
        match path.is_absolute() && cut.iter().any(|file| file.is_file()) {
            true => Err(GitError::Shallow {
                url: self.remote.shown(),
            }),
            false => Ok(()),
        }
    }

    /// Waits for its turn. The lock goes with the file, also when we are killed.
    async fn lock(&self) -> Result<File, GitError> {
        let until = Instant::now() + LOCK_WAIT;
        loop {
            match self.try_lock()? {
                Some(lock) => return Ok(lock),
                None if Instant::now() < until => sleep(Duration::from_millis(20)).await,
                None => {
                    return Err(GitError::Locked {
                        path: self.path().to_owned(),
                    });
                }
            }
        }
    }

    /// The same for who need not do it; `None` where somebody else has it.
    pub(crate) fn try_lock(&self) -> Result<Option<File>, GitError> {
        let path = self.path().with_extension("lock");
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|source| io(dir, source))?;
        }
        let file = File::create(&path).map_err(|source| io(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(io(&path, source)),
        }
    }

    /// The newest fetched commit of a branch of the remote.
    ///
    /// # Errors
    /// When there is no such branch.
    pub async fn resolve(&self, base: &str) -> Result<Oid, GitError> {
        if let Some(oid) = self
            .bare
            .ref_target(&format!("refs/remotes/origin/{base}"))
            .await?
        {
            return Ok(oid);
        }
        let list = self.bare.git("for-each-ref");
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

    /// Keeps a commit of the remote, whatever the remote does with it: what a session made lies on
    /// top of it, and the store of that has nothing but that.
    pub(crate) async fn hold_base(&self, base: &Oid) -> Result<(), GitError> {
        let name = format!("{BASES}{base}");
        match self.bare.ref_target(&name).await {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            Err(broken) if torn::remove_refs(self.path(), &name)?.is_empty() => return Err(broken),
            Err(_) => {}
        }
        let change = RefChange::to(name.clone(), base);
        self.bare.change_refs(vec![change]).await?;
        durable::name(&self.path().join(name), self.path())
    }

    /// A text file of a commit, up to so many bytes; `None` where there is no such file, or it is no text.
    pub async fn text_at(&self, commit: &Oid, path: &str, most: usize) -> Option<String> {
        let (commit, path) = (commit.git2(), path.to_owned());
        let text = self.bare.read(move |repo| {
            let entry = repo
                .find_commit(commit)?
                .tree()?
                .get_path(Path::new(&path))?;
            // A link is the name of another file.
            if !matches!(entry.filemode(), 0o100_644 | 0o100_755) {
                return Ok(None);
            }
            let blob = entry.to_object(repo)?.peel_to_blob()?;
            let bytes = blob.content();
            let bytes = &bytes[..bytes.len().min(most)];
            Ok(match std::str::from_utf8(bytes) {
                Ok(text) => Some(text.to_owned()),
                // Cut within a letter.
                Err(error) if error.error_len().is_none() => {
                    let whole = &bytes[..error.valid_up_to()];
                    Some(String::from_utf8_lossy(whole).into_owned())
                }
                Err(_) => None,
            })
        });
        text.await.ok().flatten()
    }

    /// Whether the file `path` of a commit has a line `line`, counted from 1; 0 asks for the file.
    pub async fn has_line_at(&self, commit: &Oid, path: &str, line: u32) -> bool {
        let (commit, path) = (commit.git2(), path.to_owned());
        let lines = self.bare.read(move |repo| {
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
}

/// Removes a directory of ours that was left half made.
fn clear(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
