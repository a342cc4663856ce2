//! Takes up everything that lies in a worktree, without trusting what lies there.

use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::mirror::io;
use crate::oid::Oid;
use crate::worktree::Worktree;

/// An index file of our own; gone with the value.
pub(crate) struct OwnIndex(PathBuf);

impl OwnIndex {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OwnIndex {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_file(self.0.with_extension("lock"));
    }
}

/// The trees that a worktree holds.
pub(crate) struct Trees {
    /// What is staged; `None` during a conflict, when there is no such tree.
    pub staged: Option<Oid>,
    /// The files as they are.
    pub files: Oid,
    index: OwnIndex,
}

impl Worktree {
    /// Commits everything that is not ignored onto the firing's branch: what is staged (a commit of
    /// its own when the files differ from it) and the files as they are. Commits on which HEAD
    /// strayed become parents. `None` when the branch has it all.
    ///
    /// # Errors
    /// When git fails; then nothing has changed.
    pub async fn snapshot(&self, message: &str) -> Result<Option<Oid>, GitError> {
        let Some((oid, trees)) = self.commit_all(message).await? else {
            return Ok(None);
        };
        let name = format!("refs/heads/{}", self.branch);
        self.mirror
            .git("update-ref")
            .args([name.as_str(), oid.as_str()])
            .text()
            .await?;
        self.adopt_index(&trees);
        Ok(Some(oid))
    }

    /// The same commit, but the branch stays where it is: for leftovers beside finished work.
    ///
    /// # Errors
    /// When git fails.
    pub async fn snapshot_aside(&self, message: &str) -> Result<Option<Oid>, GitError> {
        let Some((oid, trees)) = self.commit_all(message).await? else {
            return Ok(None);
        };
        self.adopt_index(&trees);
        Ok(Some(oid))
    }

    async fn commit_all(&self, message: &str) -> Result<Option<(Oid, Trees)>, GitError> {
        let tip = self.tip().await?;
        let stray = self.stray_head(&tip).await?;
        if !self.path.is_dir() {
            // Only commits can be left.
            let Some(stray) = stray else { return Ok(None) };
            return Ok(Some((stray.clone(), self.no_trees(stray)?)));
        }
        let trees = self.trees(&tip).await?;
        let tip_tree = self.tree_of(&tip).await?;
        let mut parents = vec![tip];
        let strayed = stray.is_some();
        parents.extend(stray);
        let staged = trees
            .staged
            .clone()
            .filter(|tree| *tree != tip_tree && *tree != trees.files);
        if let Some(staged) = &staged {
            let note = format!("{message}\n\nWhat was staged; the files had changed since.");
            parents = vec![self.commit(staged, &parents, &note).await?];
        }
        if trees.files == tip_tree && staged.is_none() && !strayed {
            return Ok(None);
        }
        let oid = self.commit(&trees.files, &parents, message).await?;
        Ok(Some((oid, trees)))
    }

    fn no_trees(&self, files: Oid) -> Result<Trees, GitError> {
        Ok(Trees {
            staged: None,
            files,
            index: self.own_index()?,
        })
    }

    /// The session's index becomes what was committed, so that a second look finds nothing new.
    fn adopt_index(&self, trees: &Trees) {
        let admin = self.admin();
        if admin.is_dir() && trees.index.path().is_file() {
            // A failure costs one more commit of the same content, no more.
            let _ = std::fs::copy(trees.index.path(), admin.join("index"));
        }
    }

    pub(crate) async fn is_dirty(&self, tip: &Oid) -> Result<bool, GitError> {
        let trees = self.trees(tip).await?;
        let tip_tree = self.tree_of(tip).await?;
        let staged = trees
            .staged
            .is_some_and(|tree| tree != tip_tree && tree != trees.files);
        Ok(trees.files != tip_tree || staged)
    }

    /// Writes the trees of the staged state and of the files, through an index of our own.
    pub(crate) async fn trees(&self, tip: &Oid) -> Result<Trees, GitError> {
        let index = self.own_index()?;
        let theirs = self.admin().join("index");
        let copied = std::fs::copy(&theirs, index.path()).is_ok();
        let mut staged = None;
        if copied {
            staged = self.write_tree(&index).await.ok();
        }
        if staged.is_none() && (!copied || !self.lists(&index).await?) {
            // No index, or one that cannot be read: begin with the branch's own tree.
            let _ = std::fs::remove_file(index.path());
            self.git("read-tree", index.path())
                .arg(tip.as_str())
                .text()
                .await?;
        }
        let done = self
            .git("add", index.path())
            .args(["--all", "--ignore-errors", "--", ":/"])
            .finish()
            .await?;
        let files = self
            .write_tree(&index)
            .await
            .map_err(|error| match done.success() {
                true => error,
                false => GitError::Failed {
                    verb: "add".into(),
                    detail: crate::git::detail(&done),
                },
            })?;
        Ok(Trees {
            staged,
            files,
            index,
        })
    }

    async fn lists(&self, index: &OwnIndex) -> Result<bool, GitError> {
        self.git("ls-files", index.path())
            .args(["--unmerged"])
            .succeeds()
            .await
    }

    fn own_index(&self) -> Result<OwnIndex, GitError> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "carson-index-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let dir = self.mirror.path().join("carson");
        std::fs::create_dir_all(&dir).map_err(|source| io(&dir, source))?;
        Ok(OwnIndex(dir.join(name)))
    }

    async fn write_tree(&self, index: &OwnIndex) -> Result<Oid, GitError> {
        parse(self.git("write-tree", index.path()).text().await?)
    }

    pub(crate) async fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let spec = format!("{commit}^{{tree}}");
        parse(
            self.mirror
                .git("rev-parse")
                .args(["--verify", "--quiet", spec.as_str()])
                .text()
                .await?,
        )
    }

    async fn commit(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid, GitError> {
        let mut git = self.mirror.git("commit-tree").arg(tree.as_str());
        for parent in parents {
            git = git.args(["-p", parent.as_str()]);
        }
        parse(git.args(["-m", message]).text().await?)
    }
}

fn parse(text: String) -> Result<Oid, GitError> {
    text.parse().map_err(|detail| GitError::Failed {
        verb: "rev-parse".into(),
        detail,
    })
}
