//! Commits that only the session's repository remembers.

use std::collections::HashSet;

use tracing::info;

use crate::error::GitError;
use crate::oid::Oid;
use crate::seen::Seen;
use crate::snapshot::parse;

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
        let Some(last) = last else { return Ok(()) };
        info!(worktree = %name, commits = tips.len(), "abandoned commits are kept");
        let name = format!("refs/carson/abandoned/{name}/{last}");
        let held = bare.ref_target(&name).await?;
        bare.move_ref(&name, &last, held.as_ref()).await
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
            walk.set_sorting(git2::Sort::TOPOLOGICAL)?;
            for commit in &all {
                walk.push(commit.git2())?;
            }
            walk.hide(base)?;
            for glob in KEEPING {
                walk.hide_glob(glob)?;
            }
            let (mut tips, mut known) = (Vec::new(), HashSet::new());
            for oid in walk {
                let oid = oid?;
                // Children come first, so one that is known already is no tip.
                if !known.contains(&oid) {
                    tips.push(Oid::from(oid));
                }
                known.extend(repo.find_commit(oid)?.parent_ids());
            }
            Ok(tips)
        };
        self.worktree.kept.bare.read(judge).await
    }
}
