//! What a session left is removed, when it is saved.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_proc::inspector::{Desk, Inspector};
use tracing::warn;

use crate::error::{GitError, io};
use crate::idle_ref::IdleRef;
use crate::inspect::remove::Remove;
use crate::oid::Oid;
use crate::salvaged::Salvaged;
use crate::seen::{Seen, bounds};
use crate::worktree::Worktree;

impl Seen {
    /// Removes the directory and the firing's own repository. The branch goes only when it is at
    /// the base, or the remote says that it has the same commit.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is removed.
    pub async fn remove(self) -> Result<(), GitError> {
        let kept = self.worktree.kept.clone();
        let idle = self.clear_away().await?;
        kept.delete_refs(&idle).await
    }

    /// The same, but the refs that nothing needs any more are given back: whoever removes many
    /// worktrees deletes the refs of all of them at once.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is removed.
    pub async fn clear_away(self) -> Result<Vec<IdleRef>, GitError> {
        if let Salvaged::No { why } = self.is_salvaged().await? {
            return Err(GitError::NotSalvaged {
                path: self.worktree.path.clone(),
                why,
            });
        }
        self.keep_abandoned().await?;
        let tree = &self.worktree;
        for path in [tree.path.clone(), tree.repository()] {
            tree.discard(&path).await?;
        }
        tree.idle_refs().await
    }
}

impl Worktree {
    async fn idle_refs(&self) -> Result<Vec<IdleRef>, GitError> {
        let mut idle = Vec::new();
        let Some(at) = self.branch_tip().await? else {
            return Ok(idle);
        };
        if at == self.base || self.is_on_remote(&at).await {
            let name = self.branch_ref();
            idle.push(IdleRef { name, at });
            self.idle_ref(format!("refs/remotes/origin/{}", self.branch), &mut idle)
                .await?;
        }
        self.idle_ref(self.seen_ref(), &mut idle).await?;
        Ok(idle)
    }

    async fn idle_ref(&self, name: String, idle: &mut Vec<IdleRef>) -> Result<(), GitError> {
        if let Some(at) = self.kept.bare.ref_target(&name).await? {
            idle.push(IdleRef { name, at });
        }
        Ok(())
    }

    /// Asks the remote; no answer is no.
    async fn is_on_remote(&self, tip: &Oid) -> bool {
        match self.mirror.remote_head(&self.branch).await {
            Ok(found) => found.as_ref() == Some(tip),
            Err(error) => {
                warn!(branch = %self.branch, %error, "the branch is still kept");
                false
            }
        }
    }

    /// Takes a directory out of sight before it is removed: one that is half removed would look
    /// like a session that deleted files.
    async fn discard(&self, path: &Path) -> Result<(), GitError> {
        let mut gone = path.as_os_str().to_owned();
        gone.push(".gone");
        let gone = PathBuf::from(gone);
        let own = self.mirror.path();
        remove_tree(&self.mirror.inspector, own, &gone).await?;
        match fs::rename(path, &gone) {
            Ok(()) => remove_tree(&self.mirror.inspector, own, &gone).await,
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(io(path, source)),
        }
    }
}

/// Removes a directory that a session wrote, with all that is in it; a link or file in its place only
/// itself. A confined child does it: how deep, how many and with what rights is the session's choice.
/// `mirror` is one of ours, beside which the child's profile lies meanwhile.
///
/// # Errors
/// When something in it cannot be removed, or it takes too long: the next try goes on. Nothing there
/// is no error.
pub async fn remove_tree(
    inspector: &Inspector,
    mirror: &Path,
    path: &Path,
) -> Result<(), GitError> {
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| io(path, source)),
    };
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return gone(fs::remove_file(path)),
        Err(error) => return gone(Err(error)),
    }
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    let dir = crate::scratch::ScratchDir::new(mirror, "remove")?;
    let question = Remove {
        dir: path.to_owned(),
    };
    let desk = Desk {
        own: dir.path().to_owned(),
        write: vec![path.to_owned()],
        ..Desk::default()
    };
    let asked = inspector.ask(&question, &desk, &bounds()).await;
    asked.map_err(|source| GitError::Unseen {
        path: path.to_owned(),
        source,
    })?;
    gone(fs::remove_dir(path))
}
