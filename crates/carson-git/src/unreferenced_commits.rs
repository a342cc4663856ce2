//! Commits that only the session's repository remembers.

use std::path::Path;

use git2::Delta;
use tracing::info;

use crate::error::GitError;
use crate::git::parse;
use crate::newest::newest;
use crate::oid::Oid;
use crate::seen::Seen;

/// As many parents as one commit that keeps others gets.
const PARENTS: usize = 200;
/// Refs that keep what they lead to.
const KEEPING: [&str; 5] = [
    "refs/heads/*",
    "refs/remotes/*",
    "refs/carson/salvage/*",
    "refs/carson/nested/*",
    "refs/carson/abandoned/*",
];

impl Seen {
    /// Keeps the commits that only the session's repository remembers (amended, reset, stashed, on
    /// a branch of its own) under one ref. They are no part of its work, but removing the directory
    /// must not decide that they are gone.
    pub(crate) async fn keep_unreferenced(&self) -> Result<(), GitError> {
        self.keep_let_go().await.map(drop)
    }

    /// The same, and the ref, for whoever reports: when one of them changed a file that `work` leaves as
    /// the base has it. Of one that was amended or moved to another base, the work has what it changed.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn keep_missing(&self, work: &Oid) -> Result<Option<String>, GitError> {
        let Some((kept, tips)) = self.keep_let_go().await? else {
            return Ok(None);
        };
        let (base, work) = (self.worktree.base.git2(), work.git2());
        let judge = move |repo: &git2::Repository| {
            let base = repo.find_commit(base)?.tree()?;
            let work = repo.find_commit(work)?.tree()?;
            for tip in &tips {
                let commit = repo.find_commit(tip.git2())?;
                // What was not tracked a stash has in a parent of its own, and nothing else there.
                let parents = commit.parents().skip(1).map(|parent| (parent, true));
                for (commit, is_part) in [(commit.clone(), false)].into_iter().chain(parents) {
                    let tree = commit.tree()?;
                    let changes = repo.diff_tree_to_tree(Some(&base), Some(&tree), None)?;
                    let counts = |change: &git2::DiffDelta<'_>| {
                        !is_part || change.status() != Delta::Deleted
                    };
                    let mut paths = changes.deltas().filter(counts).filter_map(|change| {
                        let file = change.new_file().path().or(change.old_file().path())?;
                        Some(file.to_owned())
                    });
                    let entry = |tree: &git2::Tree<'_>, path: &Path| {
                        tree.get_path(path).ok().map(|it| it.id())
                    };
                    if paths.any(|path| entry(&work, &path) == entry(&base, &path)) {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        };
        let is_missing = self.worktree.kept.bare.read(judge).await?;
        Ok(is_missing.then_some(kept))
    }

    /// The ref that keeps them, and the newest of them.
    async fn keep_let_go(&self) -> Result<Option<(String, Vec<Oid>)>, GitError> {
        let tips = self.unreferenced_tips().await?;
        let (bare, name) = (&self.worktree.kept.bare, self.worktree.name());
        let mut last: Option<Oid> = None;
        for some in tips.chunks(PARENTS) {
            let Some(newest) = some.first() else { continue };
            let tree = bare.tree_of(newest).await?;
            let mut commit = bare.git("commit-tree").arg(tree.as_str());
            for parent in some.iter().chain(&last) {
                commit = commit.args(["-p", parent.as_str()]);
            }
            let note = "Commits that the session moved away from.";
            last = Some(parse(&commit.args(["-m", note]).text().await?)?);
        }
        let Some(last) = last else { return Ok(None) };
        info!(worktree = %name, commits = tips.len(), "abandoned commits are kept");
        let name = format!("refs/carson/abandoned/{name}/{last}");
        let held = bare.ref_target(&name).await?;
        bare.move_ref(&name, &last, held.as_ref()).await?;
        Ok(Some((name, tips)))
    }

    /// Those of the remembered commits that no ref has in its history, without those that others of
    /// them have.
    async fn unreferenced_tips(&self) -> Result<Vec<Oid>, GitError> {
        if self.found.remembered.is_empty() {
            return Ok(Vec::new());
        }
        let (all, base) = (self.found.remembered.clone(), self.worktree.base.git2());
        let judge = move |repo: &git2::Repository| {
            let mut walk = repo.revwalk()?;
            for commit in &all {
                walk.push(commit.git2())?;
            }
            walk.hide(base)?;
            for glob in KEEPING {
                walk.hide_glob(glob)?;
            }
            let tips = newest(repo, walk, usize::MAX)?;
            Ok(tips.into_iter().map(Oid::from).collect())
        };
        self.worktree.kept.bare.read(judge).await
    }
}
