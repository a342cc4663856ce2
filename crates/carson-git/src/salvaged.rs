//! May a worktree go?

use std::collections::HashSet;

use crate::error::GitError;
use crate::oid::Oid;
use crate::seen::Seen;

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

impl Seen {
    /// Whether removing the directory loses nothing: its files equal a saved tree, its branch is
    /// where it began, pushed, or under a kept ref, and no repository inside has commits of its own that
    /// are not kept. Asks no remote: a push leaves its own mark, and [`put_away`](Self::put_away) keeps
    /// the branch unless the remote confirms.
    ///
    /// # Errors
    /// When the store cannot be read: then nobody may assume anything.
    pub async fn is_salvaged(&self) -> Result<Salvaged, GitError> {
        if let Some(trouble) = self.found.trouble.first() {
            return Ok(no(trouble));
        }
        // A snapshot that was made of this look is on the branch now.
        let tip = self.worktree.tip().await?;
        if !self.is_kept(&tip).await? {
            let branch = &self.worktree.branch;
            return Ok(no(format!("branch {branch} is neither pushed nor kept")));
        }
        if let Some(stray) = &self.stray
            && !self.is_kept(stray).await?
        {
            return Ok(no(format!(
                "HEAD stands on commit {stray}, which is not kept"
            )));
        }
        let hidden = &self.found.hidden.tree;
        let held = [&self.found.staged, &self.found.files, hidden];
        let held = held.into_iter().flatten().cloned().collect();
        if !self.holds_trees(&tip, held).await? {
            return Ok(no("there are uncommitted changes"));
        }
        for (dir, oid) in &self.unsaved {
            let kept = self.worktree.nested_ref(oid);
            if self.worktree.kept.bare.ref_target(&kept).await?.is_none() {
                return Ok(no(format!("{dir} has commits of its own")));
            }
        }
        Ok(Salvaged::Yes)
    }

    /// Base, where the sessions began, pushed, or under a kept ref; or what leaves in its place is.
    async fn is_kept(&self, commit: &Oid) -> Result<bool, GitError> {
        if self.is_kept_itself(commit).await? {
            return Ok(true);
        }
        match self.worktree.leaves_as(commit).await? {
            left if left == *commit => Ok(false),
            left => self.is_kept_itself(&left).await,
        }
    }

    async fn is_kept_itself(&self, commit: &Oid) -> Result<bool, GitError> {
        if *commit == self.worktree.base {
            return Ok(true);
        }
        if self.worktree.begun_at().await?.as_ref() == Some(commit) {
            return Ok(true);
        }
        // A push leaves its mark in the store; what was fetched from the remote is in the mirror. Mostly
        // it is the branch of this firing, and no command needs to be started to see that.
        let mark = self.worktree.remote_ref();
        if self.worktree.kept.bare.ref_target(&mark).await?.as_ref() == Some(commit) {
            return Ok(true);
        }
        let places = [
            (
                &self.worktree.kept.bare,
                vec!["refs/remotes/origin", "refs/carson/salvage"],
            ),
            (&self.worktree.mirror.bare, vec!["refs/remotes/origin"]),
        ];
        for (bare, refs) in places {
            let oid = commit.git2();
            if !bare
                .read(move |repo| Ok(repo.find_commit(oid).is_ok()))
                .await?
            {
                continue;
            }
            let kept = bare.git("for-each-ref");
            let kept = kept.args(["--count=1", "--format=%(refname)", "--contains"]);
            let kept = kept.arg(commit.as_str()).args(refs).text().await?;
            if !kept.trim().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether these are trees of commits that are saved.
    pub(crate) async fn holds_trees(&self, tip: &Oid, held: Vec<Oid>) -> Result<bool, GitError> {
        let (tip, base) = (tip.git2(), self.worktree.base.git2());
        let stray = self.stray.as_ref().map(Oid::git2);
        let judge = move |repo: &git2::Repository| {
            let mut saved = HashSet::new();
            saved.insert(repo.find_commit(base)?.tree_id());
            let mut walk = repo.revwalk()?;
            for commit in [Some(tip), stray].into_iter().flatten() {
                walk.push(commit)?;
                // One from before the base is in its history: the walk leaves it out.
                saved.insert(repo.find_commit(commit)?.tree_id());
            }
            walk.push_glob("refs/carson/salvage/*")?;
            walk.hide(base)?;
            for oid in walk {
                saved.insert(repo.find_commit(oid?)?.tree_id());
            }
            Ok(held.iter().all(|tree| saved.contains(&tree.git2())))
        };
        self.worktree.kept.bare.read(judge).await
    }
}

#[cfg(test)]
mod tests;
