//! What an attempt did to the refs of a repository, held against what it may: go on with its branch, by commits of
//! files that its scope covers.

use std::collections::BTreeSet;

use super::error::StoriesError;
use super::judge::{Allowed, Violation};
use super::repo::{COMMITS, Refs, Repo};
use crate::tree::TreePath;

/// What it may not have done. A plan in the tree comes with the bytes that we wrote there: a commit of these is no change.
///
/// # Errors
/// When git fails.
pub async fn violations(
    repo: &Repo,
    before: &Refs,
    after: &Refs,
    allowed: &Allowed,
    plan: Option<(&TreePath, &[u8])>,
) -> Result<Vec<Violation>, StoriesError> {
    let mut found = Vec::new();
    if before.branch() != after.branch() {
        found.push(Violation::Switched(after.head.clone()));
    }
    let names: BTreeSet<&String> = before.all.keys().chain(after.all.keys()).collect();
    let others = names
        .into_iter()
        .filter(|name| before.branch() != Some(name.as_str()));
    let changed = others.filter(|name| before.all.get(*name) != after.all.get(*name));
    found.extend(changed.map(|name| Violation::Ref(name.clone())));
    found.extend(of_commits(repo, before, after, allowed, plan).await?);
    Ok(found)
}

async fn of_commits(
    repo: &Repo,
    before: &Refs,
    after: &Refs,
    allowed: &Allowed,
    plan: Option<(&TreePath, &[u8])>,
) -> Result<Vec<Violation>, StoriesError> {
    if before.commit == after.commit {
        return Ok(Vec::new());
    }
    let Some(new) = &after.commit else {
        return Ok(vec![Violation::Rewritten]);
    };
    let old = before.commit.as_deref();
    if let Some(old) = old
        && !repo.is_before(old, new).await?
    {
        return Ok(vec![Violation::Rewritten]);
    }
    let commits = repo.commits(new, old).await?;
    if commits.len() > COMMITS {
        return Ok(vec![Violation::TooManyCommits]);
    }
    let mut paths = repo.paths_of(&commits).await?;
    if let Some((plan, ours)) = plan
        && paths.contains(plan)
        && repo.have(&commits, plan, ours).await?
    {
        // Whoever commits all that changed commits what we wrote there.
        paths.retain(|path| path != plan);
    }
    let is_plan = |path: &TreePath| plan.is_some_and(|(plan, _)| plan == path);
    let is_kept = |path: &TreePath| is_plan(path) || path.parts().next() == Some(b".carson");
    let outside = paths
        .into_iter()
        .filter(|path| is_kept(path) || !allowed.covers(path));
    Ok(outside.map(Violation::Committed).collect())
}

/// Objects that only refs of afterwards name, with the name that each is kept under.
#[must_use]
pub fn to_keep(before: &Refs, after: &Refs, story: &str, attempt: u32) -> Vec<(String, String)> {
    let known: BTreeSet<&String> = before.all.values().chain(&before.commit).collect();
    let new: BTreeSet<&String> = after.commit.iter().chain(after.all.values()).collect();
    let new = new.into_iter().filter(|object| !known.contains(object));
    // The same story of another plan, or one that was numbered anew, may have had one.
    let mut free = (1..).map(|count| match count {
        1 => format!("refs/carson/stories/{story}-{attempt}"),
        more => format!("refs/carson/stories/{story}-{attempt}.{more}"),
    });
    let free = std::iter::from_fn(|| free.find(|name| !before.all.contains_key(name)));
    // The commit that was checked out has the plain name.
    let mut new: Vec<&String> = new.collect();
    new.sort_by_key(|object| after.commit.as_ref() != Some(*object));
    free.zip(new.into_iter().cloned()).collect()
}
