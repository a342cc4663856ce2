//! May a worktree go?

use crate::error::GitError;
use crate::intake::Look;
use crate::oid::Oid;
use crate::worktree::Worktree;

/// The answer of the only gate to removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Salvaged {
    /// Everything in it is saved elsewhere.
    Yes,
    /// It must stay.
    No {
        /// What is not saved.
        why: String,
    },
}

fn no(why: impl Into<String>) -> Salvaged {
    Salvaged::No { why: why.into() }
}

impl Worktree {
    /// Whether removing the directory loses nothing: its files equal a saved tree, its branch is at
    /// the base, pushed, or under a kept ref, and no repository inside has commits of its own that
    /// are not kept. Asks no remote: a push leaves its own mark, and [`remove`](Self::remove) keeps
    /// the branch unless the remote confirms.
    ///
    /// # Errors
    /// When the mirror cannot be read: then nobody may assume anything.
    pub async fn is_salvaged(&self) -> Result<Salvaged, GitError> {
        self.judge(self.look().await?).await
    }

    /// The same, after a look.
    pub(crate) async fn judge(&self, look: Look) -> Result<Salvaged, GitError> {
        let tip = self.tip().await?;
        if let Some(trouble) = look.trouble.first() {
            return Ok(no(trouble));
        }
        if !self.is_kept(&tip).await? {
            return Ok(no(format!(
                "branch {} is neither pushed nor kept",
                self.branch
            )));
        }
        let stray = self.stray_head(&tip, &look).await?;
        if let Some(stray) = &stray
            && !self.is_kept(stray).await?
        {
            return Ok(no(format!(
                "HEAD stands on commit {stray}, which is not kept"
            )));
        }
        self.judge_files(&tip, stray.as_ref(), look).await
    }

    async fn judge_files(
        &self,
        tip: &Oid,
        stray: Option<&Oid>,
        look: Look,
    ) -> Result<Salvaged, GitError> {
        let trees = self.trees(stray.unwrap_or(tip), look).await?;
        let mut saved = Vec::new();
        for commit in [Some(tip), stray].into_iter().flatten() {
            saved.push(self.mirror.tree_of(commit).await?);
        }
        let files = trees.files.as_ref().map(|files| &files.tree);
        let mut held: Vec<&Oid> = trees.staged.iter().chain(files).collect();
        held.retain(|tree| !saved.contains(tree));
        if !held.is_empty() {
            let kept = self.saved_trees().await?;
            if held.iter().any(|tree| !kept.contains(tree)) {
                return Ok(no("there are uncommitted changes"));
            }
        }
        let Some(files) = &trees.files else {
            return Ok(Salvaged::Yes);
        };
        if let Some(trouble) = files.trouble.first() {
            return Ok(no(format!("something in it cannot be taken up: {trouble}")));
        }
        let unsaved = self.unsaved(&files.repositories).await?;
        if let Some(inner) = unsaved.inner.first() {
            return Ok(no(format!(
                "{} has commits of its own",
                inner.dir().display()
            )));
        }
        Ok(Salvaged::Yes)
    }

    /// Base, pushed, or under a kept ref.
    async fn is_kept(&self, commit: &Oid) -> Result<bool, GitError> {
        if *commit == self.base {
            return Ok(true);
        }
        let kept = self.mirror.git("for-each-ref");
        let kept = kept.args([
            "--count=1",
            "--format=%(refname)",
            "--contains",
            commit.as_str(),
        ]);
        let kept = kept
            .args(["refs/remotes/origin", "refs/carson/salvage"])
            .text()
            .await?;
        Ok(!kept.trim().is_empty())
    }

    async fn saved_trees(&self) -> Result<Vec<Oid>, GitError> {
        let kept = self.mirror.git("for-each-ref");
        let kept = kept
            .args(["--format=%(tree)", "refs/carson/salvage"])
            .text()
            .await?;
        Ok(kept.lines().filter_map(|line| line.parse().ok()).collect())
    }
}

#[cfg(test)]
mod tests;
