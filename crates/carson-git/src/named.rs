//! Files of a commit that somebody asks for.

use std::ops::ControlFlow;

use git2::ObjectType;

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::seen::Seen;
use crate::tree_walk::walk;

impl Mirror {
    /// The files of a commit whose paths are asked for: each with its path and its object, in the order
    /// of the paths.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn files_where(
        &self,
        commit: &Oid,
        wanted: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Vec<(String, Oid)>, GitError> {
        let commit = commit.git2();
        self.bare
            .read(move |repo| found(repo, commit, &wanted))
            .await
    }
}

impl Seen {
    /// The same of a commit of this work.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn files_where(
        &self,
        commit: &Oid,
        wanted: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Vec<(String, Oid)>, GitError> {
        let commit = commit.git2();
        let kept = &self.worktree.kept.bare;
        kept.read(move |repo| found(repo, commit, &wanted)).await
    }
}

fn found(
    repo: &git2::Repository,
    commit: git2::Oid,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Oid)>, git2::Error> {
    let mut found = Vec::new();
    let tree = repo.find_commit(commit)?.tree()?;
    walk(repo, &tree, |path, kind, oid| {
        if let Ok(path) = std::str::from_utf8(path)
            && kind == ObjectType::Blob
            && wanted(path)
        {
            found.push((path.to_owned(), oid.into()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The name that git has for this content.
#[must_use]
pub fn name_of(content: &[u8]) -> Option<Oid> {
    let named = git2::Oid::hash_object(ObjectType::Blob, content);
    named.ok().map(Oid::from)
}
