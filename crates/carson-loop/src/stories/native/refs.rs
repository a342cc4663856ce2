//! What an attempt did to the refs of a repository, held against what it may: go on with its branch, by commits of
//! files that its scope covers.

use std::collections::BTreeSet;

use super::error::StoriesError;
use super::judge::{Allowed, Violation};
use super::others::Others;
use super::repo::{COMMITS, Refs, Repo, STASH, SYMBOLIC};
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
    let others = Others::between(before, Some(after));
    let ours = names.into_iter().filter(|name| !others.have(name));
    let ours = ours.filter(|name| before.branch() != Some(name.as_str()));
    let is_other = |name: &str| {
        let is_stashed = name == STASH && before.stashes != after.stashes;
        before.all.get(name) != after.all.get(name) || is_stashed
    };
    let changed = ours.filter(|name| is_other(name));
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
    let paths = repo.paths_of(&commits).await?;
    let is_plan =
        |path: &TreePath| plan.is_some_and(|(plan, _)| repo.in_tree(path).as_ref() == Some(plan));
    // Whoever commits all that changed commits what we wrote there.
    let is_ours = match plan {
        Some((plan, ours)) if paths.iter().any(is_plan) => repo.have(&commits, plan, ours).await?,
        _ => false,
    };
    let may = |path: &TreePath| match repo.in_tree(path) {
        _ if is_plan(path) => is_ours,
        Some(path) => path.parts().next() != Some(b".carson") && allowed.covers(&path),
        None => false,
    };
    let outside = paths.into_iter().filter(|path| !may(path));
    Ok(outside.map(Violation::Committed).collect())
}

/// Objects that only refs of afterwards name, with the name that each is kept under.
#[must_use]
pub fn to_keep(before: &Refs, after: &Refs, story: &str, attempt: u32) -> Vec<(String, String)> {
    let known: BTreeSet<&String> = objects(before).collect();
    let others = Others::between(before, Some(after));
    let named = others.own(&after.all).map(|(_, object)| object);
    let stashed = after.stashes.iter().map(|(object, _)| object);
    let new: BTreeSet<&String> = after.commit.iter().chain(named).chain(stashed).collect();
    let new = new
        .into_iter()
        .filter(|object| !object.starts_with(SYMBOLIC) && !known.contains(object));
    // The same story of another plan, or one that was numbered anew, may have had one.
    let mut free = (1..).map(|count| match count {
        1 => format!("refs/carson/stories/{story}-{attempt}"),
        more => format!("refs/carson/stories/{story}-{attempt}.{more}"),
    });
    let is_free = |name: &String| !before.all.contains_key(name) && !after.all.contains_key(name);
    let free = std::iter::from_fn(|| free.find(is_free));
    // The commit that was checked out has the plain name.
    let mut new: Vec<&String> = new.collect();
    new.sort_by_key(|object| after.commit.as_ref() != Some(*object));
    free.zip(new.into_iter().cloned()).collect()
}

/// All objects that these refs name.
fn objects(refs: &Refs) -> impl Iterator<Item = &String> {
    let stashed = refs.stashes.iter().map(|(object, _)| object);
    refs.all.values().chain(&refs.commit).chain(stashed)
}
