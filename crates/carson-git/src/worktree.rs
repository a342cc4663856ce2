//! A firing's throwaway worktree.

use std::path::PathBuf;

use crate::error::GitError;
use crate::kept::Kept;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::ref_change::RefChange;

/// A worktree of a firing's own repository, as the row of the firing describes it. Both may be
/// damaged or gone.
#[derive(Clone, Debug)]
pub struct Worktree {
    /// Its directory.
    pub path: PathBuf,
    /// The firing's branch.
    pub branch: String,
    /// The commit it began at.
    pub base: Oid,
    pub(crate) mirror: Mirror,
    pub(crate) kept: Kept,
}

impl Worktree {
    /// A worktree as a row remembers it; nothing is touched.
    #[must_use]
    pub fn open(mirror: &Mirror, path: PathBuf, branch: String, base: Oid) -> Self {
        Self {
            path,
            branch,
            base,
            mirror: mirror.clone(),
            kept: mirror.kept(),
        }
    }

    /// The store in which what comes out of it is kept.
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The branch's newest commit, as of the last look at the session's repository; the base when
    /// it never had another, or no session has begun.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn tip(&self) -> Result<Oid, GitError> {
        let tip = match self.is_unready() {
            true => None,
            false => self.branch_tip().await?,
        };
        Ok(tip.unwrap_or_else(|| self.base.clone()))
    }

    pub(crate) async fn branch_tip(&self) -> Result<Option<Oid>, GitError> {
        self.kept.make()?;
        self.kept.bare.ref_target(&self.branch_ref()).await
    }

    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// The mark that a push of the branch leaves in the store.
    pub(crate) fn remote_ref(&self) -> String {
        format!("refs/remotes/origin/{}", self.branch)
    }

    /// What the branch was in the session's repository when Carson looked last.
    pub(crate) fn seen_ref(&self) -> String {
        format!("refs/carson/seen/{}", self.name())
    }

    /// Where its sessions began, when that is not the base.
    pub(crate) fn begin_ref(&self) -> String {
        format!("refs/carson/begin/{}", self.name())
    }

    /// Notes that its sessions begin here: earlier work, which is kept elsewhere, joined with the base by
    /// Carson itself. It is nothing that a session made.
    ///
    /// # Errors
    /// When it cannot be written down, or the store does not have the commit yet.
    pub async fn begins_at(&self, at: &Oid) -> Result<(), GitError> {
        let change = RefChange::to(self.begin_ref(), at);
        self.kept.bare.change_refs(vec![change]).await
    }

    /// What [`begins_at`](Self::begins_at) noted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn begun_at(&self) -> Result<Option<Oid>, GitError> {
        self.kept.make()?;
        self.kept.bare.ref_target(&self.begin_ref()).await
    }

    /// Its name among the worktrees.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests;
