//! Commits of what a session left uncommitted.

use crate::error::GitError;
use crate::git::parse;
use crate::merging::Sides;
use crate::oid::Oid;
use crate::ref_change::RefChange;
use crate::seen::Seen;

impl Seen {
    /// Commits everything that is not ignored onto the firing's branch: what is staged (a commit of
    /// its own when the files differ from it) and the files as they are. Commits on which HEAD
    /// strayed are merged with it, or the branch follows them. `None` when the branch has it all.
    ///
    /// # Errors
    /// When git fails, or the branch has moved since; then it is where it was.
    pub async fn snapshot(&self, message: &str) -> Result<Option<Oid>, GitError> {
        let Some(oid) = self.commit_all(message).await? else {
            return Ok(None);
        };
        let tree = &self.worktree;
        let at = tree.branch_tip().await?;
        let moved = at.as_ref().unwrap_or(&tree.base) != &self.tip;
        if moved {
            return Err(GitError::Failed {
                verb: "update-ref".into(),
                detail: format!("branch {} moved meanwhile", tree.branch),
            });
        }
        let bare = &tree.kept.bare;
        bare.move_ref(&tree.branch_ref(), &oid, at.as_ref()).await?;
        Ok(Some(oid))
    }

    /// The same commit, but the branch stays where it is: for leftovers beside finished work. The
    /// caller keeps it under a ref.
    ///
    /// # Errors
    /// When git fails.
    pub async fn snapshot_aside(&self, message: &str) -> Result<Option<Oid>, GitError> {
        self.commit_all(message).await
    }

    /// Commits the files with those that only ignore rules of the session's own hide, on top of `on`;
    /// no branch moves. The caller keeps it under a ref, and it leaves with no push. `None` without any.
    ///
    /// # Errors
    /// When git fails.
    pub async fn snapshot_hidden(&self, on: &Oid, message: &str) -> Result<Option<Oid>, GitError> {
        match &self.found.hidden.tree {
            Some(tree) => self
                .commit(tree, std::slice::from_ref(on), message)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    async fn commit_all(&self, message: &str) -> Result<Option<Oid>, GitError> {
        self.save_inner().await?;
        let bare = &self.worktree.kept.bare;
        // The files belong to where HEAD is; that brings the branch along, where it descends from it.
        let (ground, elsewhere) = (self.ground().await?, self.head_elsewhere().await?);
        if elsewhere.is_some() && self.stray.is_none() {
            let held = [&self.found.staged, &self.found.files];
            let held = held.into_iter().flatten().cloned().collect();
            // They were joined before.
            if self.holds_trees(&self.tip, held).await? {
                return Ok(None);
            }
        }
        let head = elsewhere.or_else(|| self.stray.clone());
        let mut parents = vec![head.unwrap_or_else(|| self.tip.clone())];
        if let Some(staged) = self.staged_apart() {
            let note = format!("{message}\n\nWhat was staged; the files had changed since.");
            parents = vec![self.commit(staged, &parents, &note).await?];
        }
        let files = match (&self.found.files, self.found.exists) {
            (Some(files), _) => files.clone(),
            // The directory is gone: the newest state that is known.
            (None, false) => self.found.staged.clone().unwrap_or_else(|| ground.clone()),
            // The files could not be taken up: what was committed is not undone.
            (None, true) => ground.clone(),
        };
        let oid = match parents.as_slice() {
            [one] if bare.tree_of(one).await? == files => one.clone(),
            _ => self.commit(&files, &parents, message).await?,
        };
        if bare.descends(&self.tip, &oid).await? {
            return Ok(None);
        }
        if bare.descends(&oid, &self.tip).await? {
            return Ok(Some(oid));
        }
        // As it is, what belongs to an older commit, or to one beside the work, would undo the work: it is merged with
        // that, and where both changed the same lines only its history has it.
        let sides = Sides {
            head: oid.clone(),
            base: self.tip.clone(),
        };
        let merged = match bare.are_related(&sides).await? {
            true => bare.merged_tree(&sides).await?,
            // git merges no two histories that have nothing in common.
            false => None,
        };
        let tree = match merged {
            Some(tree) => tree,
            None => bare.tree_of(&self.tip).await?,
        };
        let parents = [self.tip.clone(), oid];
        self.commit(&tree, &parents, message).await.map(Some)
    }

    /// The commit of HEAD, when the session went there from its work: back, or to another line.
    async fn head_elsewhere(&self) -> Result<Option<Oid>, GitError> {
        let (Some(head), Some(newest)) = (&self.found.head, &self.found.newest) else {
            return Ok(None);
        };
        let goes_on = self.worktree.kept.bare.descends(head, newest).await?;
        Ok((!goes_on).then(|| head.clone()))
    }

    /// Commits of inner repositories come along.
    async fn save_inner(&self) -> Result<(), GitError> {
        let change = |(_, oid): &(String, Oid)| RefChange::to(self.worktree.nested_ref(oid), oid);
        let changes = self.unsaved.iter().map(change).collect();
        self.worktree.kept.bare.change_refs(changes).await
    }

    async fn commit(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid, GitError> {
        let mut git = self
            .worktree
            .kept
            .bare
            .git("commit-tree")
            .arg(tree.as_str());
        for parent in parents {
            git = git.args(["-p", parent.as_str()]);
        }
        // The message holds words of the outside: it is read, not an argument.
        let made = git.args(["-F", "-"]).stdin(message.as_bytes().to_vec());
        parse(&made.text().await?)
    }
}

#[cfg(test)]
mod tests;
