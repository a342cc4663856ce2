//! Takes up everything that lies in a worktree, without trusting what lies there.

use std::fs;
use std::path::PathBuf;

use tracing::warn;

use crate::abandoned::parse;
use crate::error::GitError;
use crate::index::Index;
use crate::intake::Look;
use crate::oid::Oid;
use crate::take::Taken;
use crate::worktree::Worktree;

/// How often a snapshot begins again when the branch moves under it.
const TRIES: usize = 3;

/// The trees that a worktree holds.
pub(crate) struct Trees {
    /// What is staged; `None` during a conflict, when there is no such tree.
    pub staged: Option<Oid>,
    /// The files as they are; `None` when the directory is gone.
    pub files: Option<Taken>,
    index: Index,
}

/// A commit that holds all of it.
struct Snapshot {
    oid: Oid,
    trees: Trees,
}

impl Trees {
    /// What is staged and neither committed at `ground` nor in the files.
    pub(crate) fn staged_apart(&self, ground: &Oid) -> Option<&Oid> {
        let files = self.files.as_ref().map(|files| &files.tree);
        self.staged
            .as_ref()
            .filter(|tree| *tree != ground && Some(*tree) != files)
    }
}

impl Worktree {
    /// Commits everything that is not ignored onto the firing's branch: what is staged (a commit of
    /// its own when the files differ from it) and the files as they are. Commits on which HEAD
    /// strayed become parents, or the branch follows them. `None` when the branch has it all.
    ///
    /// What cannot be taken up does not stop the rest: it is logged, and
    /// [`is_salvaged`](Self::is_salvaged) keeps the directory because of it.
    ///
    /// # Errors
    /// When git fails; then the branch is where it was.
    pub async fn snapshot(&self, message: &str) -> Result<Option<Oid>, GitError> {
        let mut tries = 1;
        loop {
            let look = self.look().await?;
            let at = self.branch_tip().await?;
            let tip = at.clone().unwrap_or_else(|| self.base.clone());
            let Some(taken) = self.commit_all(&tip, look, message).await? else {
                return Ok(None);
            };
            match self
                .mirror
                .move_ref(&self.branch_ref(), &taken.oid, at.as_ref())
                .await
            {
                Ok(()) => {
                    self.adopt_index(&taken.trees);
                    return Ok(Some(taken.oid));
                }
                Err(error) if tries == TRIES => return Err(error),
                Err(error) => warn!(branch = %self.branch, %error, "snapshot begins again"),
            }
            tries += 1;
        }
    }

    /// The same commit, but the branch stays where it is: for leftovers beside finished work. The
    /// caller keeps it under a ref.
    ///
    /// # Errors
    /// When git fails.
    pub async fn snapshot_aside(&self, message: &str) -> Result<Option<Oid>, GitError> {
        let look = self.look().await?;
        let tip = self.tip().await?;
        let Some(taken) = self.commit_all(&tip, look, message).await? else {
            return Ok(None);
        };
        self.adopt_index(&taken.trees);
        Ok(Some(taken.oid))
    }

    async fn commit_all(
        &self,
        tip: &Oid,
        look: Look,
        message: &str,
    ) -> Result<Option<Snapshot>, GitError> {
        let mut parents = vec![tip.clone()];
        if let Some(stray) = self.stray_head(tip, &look).await? {
            // One that descends from the branch brings the branch along.
            if self.mirror.descends(&stray, tip).await? {
                parents.clear();
            }
            parents.push(stray);
        }
        let Some(newest) = parents.last().cloned() else {
            return Ok(None);
        };
        let trees = self.trees(&newest, look).await?;
        self.save_inner(&trees).await;
        let ground = self.mirror.tree_of(&newest).await?;
        if let Some(staged) = trees.staged_apart(&ground) {
            let note = format!("{message}\n\nWhat was staged; the files had changed since.");
            parents = vec![self.commit(staged, &parents, &note).await?];
        }
        let files = match &trees.files {
            Some(files) => files.tree.clone(),
            // The directory is gone: the newest state that is known.
            None => trees.staged.clone().unwrap_or_else(|| ground.clone()),
        };
        let oid = match parents.as_slice() {
            [one] if self.mirror.tree_of(one).await? == files => one.clone(),
            _ => self.commit(&files, &parents, message).await?,
        };
        Ok((oid != *tip).then_some(Snapshot { oid, trees }))
    }

    /// Commits of inner repositories come along. What fails here is seen by `is_salvaged`.
    async fn save_inner(&self, trees: &Trees) {
        let Some(files) = &trees.files else { return };
        for trouble in &files.trouble {
            warn!(worktree = %self.path.display(), %trouble, "something could not be taken up");
        }
        let saved = match self.unsaved(&files.repositories).await {
            Ok(unsaved) => self.save(&unsaved).await,
            Err(error) => Err(error),
        };
        if let Err(error) = saved {
            warn!(worktree = %self.path.display(), %error, "an inner repository could not be saved");
        }
    }

    /// The session's index becomes what was committed, so that a second look finds nothing new.
    fn adopt_index(&self, trees: &Trees) {
        let (Some(own), Some(_)) = (self.own(), &trees.files) else {
            return;
        };
        // A failure costs one more commit of the same content, no more.
        let fresh = own.git.join("index.carson");
        let _ = fs::remove_file(&fresh);
        if fs::copy(trees.index.path(), &fresh).is_ok() {
            let _ = fs::rename(&fresh, own.git.join("index"));
        }
    }

    pub(crate) async fn is_dirty(&self, tip: &Oid, look: Look) -> Result<bool, GitError> {
        let stray = self.stray_head(tip, &look).await?;
        let newest = stray.unwrap_or_else(|| tip.clone());
        let trees = self.trees(&newest, look).await?;
        let ground = self.mirror.tree_of(&newest).await?;
        if trees.staged_apart(&ground).is_some() {
            return Ok(true);
        }
        let Some(files) = &trees.files else {
            return Ok(false);
        };
        // What cannot be judged counts as work: snapshot and salvage will say more.
        let inner = self
            .unsaved(&files.repositories)
            .await
            .map_or(true, |unsaved| !unsaved.inner.is_empty());
        Ok(files.tree != ground || inner || !files.trouble.is_empty())
    }

    /// Writes the trees of the staged state and of the files, through an index of our own. Without
    /// an index that can be read it begins with the tree of `newest`.
    pub(crate) async fn trees(&self, newest: &Oid, look: Look) -> Result<Trees, GitError> {
        let (staged, listed) = (look.staged, look.listed);
        let index = match look.index {
            Some(index) => index,
            None => {
                let index = Index::empty(&self.mirror)?;
                index.read_tree(newest).await?;
                if self.is_there() {
                    index.add(&self.path, &listed).await?;
                }
                index
            }
        };
        let mut files = None;
        if self.is_there() {
            let mut taken = self.take(&self.path, &index, 0, staged.as_ref()).await?;
            taken.repositories.extend(self.stranger());
            files = Some(taken);
        }
        Ok(Trees {
            staged,
            files,
            index,
        })
    }

    /// The worktree itself, when its `.git` is not the file that git put there.
    fn stranger(&self) -> Option<PathBuf> {
        let git = self.path.join(".git");
        let found = git.symlink_metadata().ok()?;
        let text = if found.is_file() {
            fs::read_to_string(&git).ok()?
        } else {
            String::new()
        };
        let leads = PathBuf::from(text.strip_prefix("gitdir: ").unwrap_or_default().trim_end());
        let ours = leads.is_absolute()
            && leads.canonicalize().ok() == self.own().and_then(|own| own.git.canonicalize().ok());
        (!ours).then(|| self.path.clone())
    }

    async fn commit(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid, GitError> {
        let mut git = self.mirror.git("commit-tree").arg(tree.as_str());
        for parent in parents {
            git = git.args(["-p", parent.as_str()]);
        }
        // The message holds words of the outside: it is read, not an argument.
        parse(
            &git.args(["-F", "-"])
                .stdin(message.as_bytes().to_vec())
                .text()
                .await?,
        )
    }
}

#[cfg(test)]
mod tests;
