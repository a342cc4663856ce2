//! What Carson's bare repositories have in common: the mirror, and the store of what is kept.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::debug;

use crate::config::Own;
use crate::error::GitError;
use crate::git::Git;
use crate::idle_ref::IdleRef;
use crate::oid::Oid;
use crate::ref_change::{self, RefChange};

/// A bare repository of ours. Only git commands of ours write in it, whose configuration is put right before each of them,
/// and libgit2, which runs nothing that a configuration names.
#[derive(Clone)]
pub(crate) struct Bare {
    path: PathBuf,
    own: Own,
    /// As libgit2 has it open, from the first reading on: opening reads half a dozen configurations.
    open: Arc<Mutex<Open>>,
}

/// What libgit2 has open between two readings.
#[derive(Default)]
struct Open {
    repository: Option<git2::Repository>,
    /// How many commands were made that may have changed it.
    commands: u64,
}

impl fmt::Debug for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bare").field(&self.path).finish()
    }
}

impl Bare {
    pub(crate) fn new(path: PathBuf, own: Own) -> Self {
        Self {
            path,
            own,
            open: Arc::default(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A command on this repository. It may change what the repository is, so the next reading opens that anew.
    pub(crate) fn git(&self, verb: &str) -> Git {
        let mut open = self.opened();
        open.repository = None;
        open.commands += 1;
        drop(open);
        Git::new(&self.path, verb).owning(self.own.clone())
    }

    /// Does something with libgit2, off the async threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&git2::Repository) -> Result<T, git2::Error> + Send + 'static,
    ) -> Result<T, GitError> {
        let me = self.clone();
        let result = tokio::task::spawn_blocking(move || {
            me.read_here(read).map_err(|source| GitError::Read {
                path: me.path,
                source,
            })
        });
        result.await.unwrap_or_else(|panic| {
            Err(GitError::Failed {
                verb: "read".into(),
                detail: panic.to_string(),
            })
        })
    }

    /// Nobody else has the one that is read meanwhile; who reads beside it opens one more.
    fn read_here<T>(
        &self,
        read: impl FnOnce(&git2::Repository) -> Result<T, git2::Error>,
    ) -> Result<T, git2::Error> {
        let (open, commands) = {
            let mut open = self.opened();
            (open.repository.take(), open.commands)
        };
        let repository = match open {
            Some(open) => open,
            None => self.own.open()?,
        };
        let found = read(&repository);
        let mut open = self.opened();
        if open.commands == commands {
            open.repository = Some(repository);
        }
        found
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Points a ref at a commit, if it still points where it did.
    pub(crate) async fn move_ref(
        &self,
        name: &str,
        to: &Oid,
        from: Option<&Oid>,
    ) -> Result<(), GitError> {
        self.change_refs(vec![RefChange::moved(name, to, from)])
            .await
    }

    /// Changes many refs, all of them or none.
    ///
    /// # Errors
    /// When one may not be changed, or cannot be: as git says it.
    pub(crate) async fn change_refs(&self, changes: Vec<RefChange>) -> Result<(), GitError> {
        if changes.is_empty() {
            return Ok(());
        }
        let lines: String = changes.iter().map(ToString::to_string).collect();
        let dir = self.path.clone();
        let made = self.read(move |repo| match Own::is_synced(repo)? {
            true => ref_change::make(repo, &dir, &changes),
            false => Err(git2::Error::from_str("what is written would not be synced")),
        });
        if let Err(error) = made.await {
            debug!(repository = %self.path.display(), %error, "git itself changes the refs");
            let update = self.git("update-ref").args(["--no-deref", "--stdin"]);
            return update.stdin(lines.into_bytes()).text().await.map(drop);
        }
        Ok(())
    }

    /// Removes refs, all of them at once. When one of them has moved the others go
    /// nevertheless.
    ///
    /// # Errors
    /// When one moved, or could not be removed.
    pub(crate) async fn delete_refs(&self, all: &[IdleRef]) -> Result<(), GitError> {
        let gone = |IdleRef { name, at }: &IdleRef| RefChange::gone(name, at);
        let together = self.change_refs(all.iter().map(gone).collect()).await;
        if together.is_ok() || all.len() == 1 {
            return together;
        }
        let mut outcome = Ok(());
        for one in all {
            let done = self.change_refs(vec![gone(one)]).await;
            outcome = outcome.and(done);
        }
        outcome
    }

    /// Whether the first commit is the second or has it in its history. A commit that is not there
    /// descends from nothing.
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

    /// Whether a commit is here.
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
}
