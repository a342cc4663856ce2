//! Files of a commit by their names.

use git2::{ObjectType, TreeWalkMode, TreeWalkResult};

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::seen::Seen;

impl Mirror {
    /// The files of a commit whose last name is one of these: each with its path and its object, in the
    /// order of the paths.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn files_named(
        &self,
        commit: &Oid,
        is_named: fn(&str) -> bool,
    ) -> Result<Vec<(String, Oid)>, GitError> {
        let commit = commit.git2();
        self.bare
            .read(move |repo| found(repo, commit, is_named))
            .await
    }
}

impl Seen {
    /// The same of a commit of this work.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn files_named(
        &self,
        commit: &Oid,
        is_named: fn(&str) -> bool,
    ) -> Result<Vec<(String, Oid)>, GitError> {
        let commit = commit.git2();
        let kept = &self.worktree.kept.bare;
        kept.read(move |repo| found(repo, commit, is_named)).await
    }
}

fn found(
    repo: &git2::Repository,
    commit: git2::Oid,
    is_named: fn(&str) -> bool,
) -> Result<Vec<(String, Oid)>, git2::Error> {
    let mut found = Vec::new();
    let tree = repo.find_commit(commit)?.tree()?;
    tree.walk(TreeWalkMode::PreOrder, |dir, entry| {
        if let Ok(name) = entry.name()
            && entry.kind() == Some(ObjectType::Blob)
            && is_named(name)
        {
            found.push((format!("{dir}{name}"), entry.id().into()));
        }
        TreeWalkResult::Ok
    })?;
    Ok(found)
}

/// The name that git has for this content.
#[must_use]
pub fn name_of(content: &[u8]) -> Option<Oid> {
    let named = git2::Oid::hash_object(ObjectType::Blob, content);
    named.ok().map(Oid::from)
}
