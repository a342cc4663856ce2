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
}

#[cfg(test)]
mod tests;
