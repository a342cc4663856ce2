//! May a worktree go?

use std::path::{Path, PathBuf};

use crate::error::GitError;
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
    /// Whether removing the directory loses nothing: its files equal a saved tree, and its branch
    /// is at the base, pushed, or under a kept ref. Asks no remote: a push leaves its own mark.
    ///
    /// # Errors
    /// When the mirror cannot be read: then nobody may assume anything.
    pub async fn is_salvaged(&self) -> Result<Salvaged, GitError> {
        let tip = self.tip().await?;
        if !self.is_reachable(&tip).await? {
            return Ok(no(format!(
                "branch {} is neither pushed nor kept",
                self.branch
            )));
        }
        if let Some(stray) = self.stray_head(&tip).await?
            && !self.is_reachable(&stray).await?
        {
            return Ok(no(format!(
                "HEAD stands on commit {stray}, which is not kept"
            )));
        }
        if !self.path.is_dir() {
            return Ok(Salvaged::Yes);
        }
        if let Some(nested) = self.nested_repository().await? {
            return Ok(no(format!(
                "{} is a repository of its own",
                nested.display()
            )));
        }
        let trees = self.trees(&tip).await?;
        let saved = self.saved_trees(&tip).await?;
        for tree in trees.staged.iter().chain([&trees.files]) {
            if !saved.contains(tree) {
                return Ok(no("there are uncommitted changes"));
            }
        }
        Ok(Salvaged::Yes)
    }

    /// Base, pushed, or under a kept ref.
    async fn is_reachable(&self, commit: &Oid) -> Result<bool, GitError> {
        if *commit == self.base {
            return Ok(true);
        }
        let kept = self
            .mirror
            .git("for-each-ref")
            .args([
                "--count=1",
                "--format=%(refname)",
                "--contains",
                commit.as_str(),
            ])
            .args(["refs/remotes/origin", "refs/carson/salvage"])
            .text()
            .await?;
        Ok(!kept.trim().is_empty())
    }

    async fn saved_trees(&self, tip: &Oid) -> Result<Vec<Oid>, GitError> {
        let kept = self
            .mirror
            .git("for-each-ref")
            .args(["--format=%(tree)", "refs/carson/salvage"])
            .text()
            .await?;
        let mut saved: Vec<Oid> = kept.lines().filter_map(|line| line.parse().ok()).collect();
        saved.push(self.tree_of(tip).await?);
        Ok(saved)
    }

    /// A repository inside the worktree that is neither ignored nor a submodule of the base. Git
    /// would take up its name and not its content.
    async fn nested_repository(&self) -> Result<Option<PathBuf>, GitError> {
        let root = self.path.clone();
        let found = tokio::task::spawn_blocking(move || nested(&root))
            .await
            .unwrap_or_default();
        for path in found {
            let inside = path.strip_prefix(&self.path).unwrap_or(&path).to_owned();
            if !self.is_ignored(&inside).await? && !self.is_submodule(&inside).await? {
                return Ok(Some(inside));
            }
        }
        Ok(None)
    }

    async fn is_ignored(&self, path: &Path) -> Result<bool, GitError> {
        let index = self.admin().join("index");
        self.git("check-ignore", &index)
            .args(["--quiet", "--"])
            .arg(path)
            .succeeds()
            .await
    }

    async fn is_submodule(&self, path: &Path) -> Result<bool, GitError> {
        let listed = self
            .mirror
            .git("ls-tree")
            .args([self.base.as_str(), "--"])
            .arg(path)
            .text()
            .await?;
        Ok(listed.starts_with("160000 "))
    }
}

/// Directories below `root` that hold a `.git`.
fn nested(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        if dir != root && dir.join(".git").symlink_metadata().is_ok() {
            found.push(dir);
            continue;
        }
        let Ok(items) = std::fs::read_dir(&dir) else {
            continue;
        };
        for item in items.flatten() {
            if item.file_type().is_ok_and(|kind| kind.is_dir()) && item.file_name() != ".git" {
                todo.push(item.path());
            }
        }
    }
    found
}
