//! Commits of a session that its work does not have.

use crate::error::GitError;
use crate::oid::Oid;
use crate::seen::Seen;

impl Seen {
    /// Keeps each under a ref of its own, unless `tip` has it; the branch that the session left it on,
    /// and the ref.
    ///
    /// # Errors
    /// When the store cannot be read, or a ref cannot be written.
    pub async fn keep_beside(
        &self,
        firing: &str,
        tip: &Oid,
    ) -> Result<Vec<(String, String)>, GitError> {
        let kept = &self.worktree.kept;
        let mut refs = Vec::new();
        for (branch, oid) in &self.found.beside {
            if !kept.bare.descends(tip, oid).await? {
                refs.push((branch.clone(), kept.keep_ref(firing, oid).await?));
            }
        }
        Ok(refs)
    }

    /// The repositories inside with commits of their own that are kept now, by the names of their
    /// directories, and the refs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn kept_inside(&self) -> Result<Vec<(String, String)>, GitError> {
        let mut kept = Vec::new();
        for (dir, oid) in &self.unsaved {
            let name = self.worktree.nested_ref(oid);
            if self.worktree.kept.bare.ref_target(&name).await?.is_some() {
                let dir = dir.rsplit('/').next().unwrap_or(dir);
                kept.push((dir.to_owned(), name));
            }
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests;
