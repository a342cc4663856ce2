//! Commits that only the session's repository remembers.

use std::collections::HashSet;

use tracing::info;

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::worktree::Worktree;

/// As many parents as one commit that keeps others gets.
const PARENTS: usize = 200;
/// Refs that keep what they lead to.
const KEEPING: [&str; 6] = [
    "refs/heads/*",
    "refs/remotes/*",
    "refs/tags/*",
    "refs/carson/salvage/*",
    "refs/carson/nested/*",
    "refs/carson/abandoned/*",
];

impl Worktree {
    /// Keeps the commits that only the session's repository remembers (amended, reset, stashed, on
    /// a branch of its own) under one ref. They are no part of its work, but removing the directory
    /// must not decide that they are gone.
    pub(crate) async fn keep_abandoned(&self, remembered: Vec<Oid>) -> Result<(), GitError> {
        let tips = abandoned(&self.mirror, remembered, &self.base).await?;
        let mut last: Option<Oid> = None;
        for some in tips.chunks(PARENTS) {
            let Some(newest) = some.first() else { continue };
            let tree = self.mirror.tree_of(newest).await?;
            let mut commit = self.mirror.git("commit-tree").arg(tree.as_str());
            for parent in some.iter().chain(&last) {
                commit = commit.args(["-p", parent.as_str()]);
            }
            let note = "Commits that the session moved away from.";
            last = Some(parse(&commit.args(["-m", note]).text().await?)?);
        }
        let Some(last) = last else { return Ok(()) };
        info!(worktree = %self.name(), commits = tips.len(), "abandoned commits are kept");
        let name = format!("refs/carson/abandoned/{}/{last}", self.name());
        let held = self.mirror.ref_target(&name).await?;
        self.mirror.move_ref(&name, &last, held.as_ref()).await
    }
}

/// Those of the commits that no ref has in its history, without those that others of them have.
async fn abandoned(mirror: &Mirror, all: Vec<Oid>, base: &Oid) -> Result<Vec<Oid>, GitError> {
    let base = base.git2();
    let judge = move |repo: &git2::Repository| {
        let mut commits = Vec::new();
        for oid in &all {
            let found = repo.find_object(oid.git2(), None);
            if let Ok(commit) = found.and_then(|found| found.peel_to_commit()) {
                commits.push(commit.id());
            }
        }
        // The usual bench remembers where it began and nothing else. Asking all refs of a mirror
        // for each of many benches takes time by the square of their number.
        if !has_news(repo, &commits, base)? {
            return Ok(Vec::new());
        }
        let mut walk = repo.revwalk()?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL)?;
        for commit in commits {
            walk.push(commit)?;
        }
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
    mirror.read(judge).await
}

/// Whether one of them is not in the history of the commit that the firing began at.
fn has_news(
    repo: &git2::Repository,
    commits: &[git2::Oid],
    base: git2::Oid,
) -> Result<bool, git2::Error> {
    if commits.iter().all(|commit| *commit == base) {
        return Ok(false);
    }
    let mut walk = repo.revwalk()?;
    for commit in commits {
        walk.push(*commit)?;
    }
    if repo.find_commit(base).is_ok() {
        walk.hide(base)?;
    }
    walk.next().transpose().map(|first| first.is_some())
}

pub(crate) fn parse(said: &str) -> Result<Oid, GitError> {
    said.parse().map_err(|detail| GitError::Failed {
        verb: "rev-parse".into(),
        detail,
    })
}
