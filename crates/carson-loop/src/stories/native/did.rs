//! What an executor did: how it ended, what changed, and what of that it may not have changed.

use std::fs;
use std::path::{Component, Path};

use super::areas::{Changed, Kind, Seen};
use super::before::Before;
use super::error::StoriesError;
use super::index::Index;
use super::judge::{Allowed, Violation};
use super::refs;
use super::repo::{Refs, is_of_commits};
use super::runner::Runner;
use crate::executor::{Call, Ran, run};
use crate::tree::{Change, TreePath, What};

/// What an executor did.
pub(super) struct Did {
    pub ran: Ran,
    pub after: Seen,
    pub changed: Vec<Changed>,
    pub refs: Option<Refs>,
    pub violations: Vec<Violation>,
}

impl Did {
    /// Files of the tree that changed.
    pub fn files(&self) -> u64 {
        let files = self.tree().filter(|change| !change.is_of_dirs());
        files.count() as u64
    }

    /// What changed in the tree.
    pub fn tree(&self) -> impl Iterator<Item = &Change> {
        let trees = self.changed.iter().filter(|area| area.kind == Kind::Tree);
        trees.flat_map(|area| &area.changes)
    }
}

impl Runner<'_> {
    /// Runs the executor, and looks at what it did.
    pub async fn executed(
        &mut self,
        call: &Call<'_>,
        before: &Before,
        allowed: &Allowed,
    ) -> Result<Did, StoriesError> {
        let index = match &self.repo {
            Some(repo) => Some(Index::of(repo).await?),
            None => None,
        };
        let ran = run(call, &self.given.cancel, |_| {}).await;
        // Of git's and our own files what is there now may have to be put back after the promise.
        let kept = [Kind::Git, Kind::Own];
        let after = self
            .areas
            .look(Some(&before.seen), &mut self.contents, &kept, None)?;
        let changed = self.areas.changes(&before.seen, &after);
        let mut violations = self.violations(&changed, allowed);
        violations.extend(self.no_longer_seen(&before.seen, &after));
        violations.extend(self.with_git_put_right(before, &changed)?);
        let refs = match self.refs().await {
            Ok(refs) => refs,
            Err(StoriesError::Git { .. } | StoriesError::Io { .. }) => {
                violations.push(Violation::Switched(
                    "no repository is there any more".to_owned(),
                ));
                None
            }
            Err(error) => return Err(error),
        };
        if let (Some(repo), Some(old), Some(new)) = (&self.repo, &before.refs, &refs) {
            let plan = self.place.plan_in_tree();
            let plan = plan.as_ref().map(|plan| (plan, self.journal.bytes()));
            violations.extend(refs::violations(repo, old, new, allowed, plan).await?);
            let now = Index::of(repo).await.ok();
            violations.extend(match (&index, &now) {
                (Some(index), Some(now)) => index.violations(now, repo, allowed, plan).await?,
                _ => vec![Violation::NoIndex],
            });
        }
        violations.dedup();
        Ok(Did {
            ran,
            after,
            changed,
            refs,
            violations,
        })
    }

    /// What of these changes may not be.
    fn violations(&self, changed: &[Changed], allowed: &Allowed) -> Vec<Violation> {
        let mut found = Vec::new();
        for area in changed {
            match area.kind {
                Kind::Tree => {
                    found.extend(allowed.violations(&area.changes));
                    let out = area.changes.iter().filter(|one| leads_out(&area.root, one));
                    found.extend(out.map(|change| Violation::LeadsOut(change.path.clone())));
                }
                Kind::Git => {
                    let others = area.changes.iter().filter(|change| !change.is_of_dirs());
                    let others = others.filter(|change| !is_of_commits(change));
                    found.extend(others.map(|change| Violation::Git(change.path.clone())));
                }
                Kind::Own => found.extend(
                    area.changes
                        .iter()
                        .map(|change| Violation::Own(change.path.clone())),
                ),
            }
        }
        if !self.journal.stands() {
            found.push(Violation::Plan);
        }
        found
    }

    /// Directories that could be looked at and cannot any more: nobody can say what was done there. A file is seen by its
    /// times all the same, and judged by its path.
    fn no_longer_seen(&self, before: &Seen, after: &Seen) -> Vec<Violation> {
        let known = self.areas.unseen(before);
        let now = self.areas.unseen(after).into_iter();
        let new = now.filter(|one| !one.is_file && !known.contains(one));
        new.map(|one| Violation::Unseen(one.shown, one.why))
            .collect()
    }

    /// Before git is asked, nothing of it is what the executor made it; what was replaced as a whole.
    fn with_git_put_right(
        &self,
        before: &Before,
        changed: &[Changed],
    ) -> Result<Option<Violation>, StoriesError> {
        let mut replaced = None;
        if let (Some(repo), Some(was)) = (&self.repo, &before.refs)
            && repo.dot_git() != was.dot_git
        {
            repo.put_back(&was.dot_git)?;
            replaced = Some(Violation::DotGit);
        }
        for area in changed.iter().filter(|area| area.kind == Kind::Git) {
            // What is still not as it was is a violation already, and met again when all is undone.
            let _ = area
                .only(|change| !is_of_commits(change))
                .undo(&self.contents)?;
        }
        Ok(replaced)
    }
}

/// Whether the way of a link that came, with the links on it followed, ends above the top of the tree.
fn leads_out(root: &Path, change: &Change) -> bool {
    let is_link = |what: &What| matches!(what, What::Link { .. });
    let came = change.after.as_ref().filter(|entry| is_link(&entry.what));
    came.is_some() && ends_outside(root, &change.path).unwrap_or(false)
}

fn ends_outside(root: &Path, path: &TreePath) -> Option<bool> {
    let link = root.join(path.as_path());
    let to = fs::read_link(&link).ok()?;
    let mut at = link.parent()?.canonicalize().ok()?;
    for part in to.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return Some(true),
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            Component::Normal(name) => {
                at.push(name);
                // What is not there is taken by its words.
                at = at.canonicalize().unwrap_or(at);
            }
        }
        if !at.starts_with(root) {
            return Some(true);
        }
    }
    Some(false)
}
