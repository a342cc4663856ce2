//! Pull requests that people ended, and the issues that wait for them.
//!
//! A forge that holds its branches ends a pull request itself. The local one is files: there a branch that
//! was merged, or that is gone, says what became of its pull request. Either way the issue goes on: merged
//! work is done, and what was closed goes back to its role, which hands it to people with their no.

use std::collections::BTreeSet;

use carson_config::Repo;
use carson_core::work::WorkKey;
use carson_core::{Outcome, untrusted};
use carson_forge::{DONE, Forge, ForgeError, Merge, PR_OPEN, Pull, PullState};
use carson_git::{GitError, Oid, Sides};
use carson_store::StoreError;
use thiserror::Error;
use tracing::{info, warn};

use crate::labels::labels_after;
use crate::turn::{Turn, Turns};
use carson_home::halt::Hinted;
use carson_home::{ForgeOpenError, Home};

/// Longest title in the message of a merge.
const TITLE_MAX: usize = 200;

/// What was asked of a pull request could not be done.
#[derive(Debug, Error)]
pub enum PullError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The forge does not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The forge of another repository cannot be opened.
    #[error(transparent)]
    Open(#[from] ForgeOpenError),
    /// Git cannot do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The remote has not its branch, and nobody knows its commits.
    #[error("the branch {0} is gone")]
    NoBranch(String),
}

impl Hinted for PullError {
    fn hint(&self) -> &str {
        match self {
            Self::Store(error) => error.hint(),
            Self::Forge(error) => error.hint(),
            Self::Open(error) => error.hint(),
            // A rule or a hook of theirs.
            Self::Git(GitError::PushRejected { .. }) => {
                "merge the branch there with git; Carson sees that within the hour, or at the next `carson prune`"
            }
            Self::Git(error) => error.hint(),
            Self::NoBranch(_) => "look into its firing: `carson firings` names what was kept",
        }
    }
}

/// Follows what people did in every repository; how many pull requests and issues were changed.
///
/// # Errors
/// When the store does not answer. A forge or a remote that does not is logged.
pub async fn sweep(home: &Home) -> Result<u32, StoreError> {
    let Some(_turn) = Turns::Pulls.soon(home).await else {
        return Ok(0);
    };
    let mut changed = 0;
    for (name, repo) in &home.fleet.repos {
        let forge = match home.forge(repo).await {
            Ok(forge) => forge,
            Err(error) => {
                warn!(%name, %error, "its pull requests cannot be looked at");
                continue;
            }
        };
        match sweep_one(home, repo, &forge).await {
            Ok(count) => changed += count,
            Err(PullError::Store(error)) => return Err(error),
            Err(error) => warn!(%name, %error, "its pull requests cannot be looked at"),
        }
    }
    Ok(changed)
}

async fn sweep_one(home: &Home, repo: &Repo, forge: &Forge) -> Result<u32, PullError> {
    let mut changed = 0;
    let open = forge.pulls(true).await?.found;
    if !forge.holds_branches() && !open.is_empty() {
        changed += follow_branches(home, repo, forge, open).await?;
    }
    let waiting = forge.issues(Some(PR_OPEN)).await?.found;
    if waiting.is_empty() {
        return Ok(changed);
    }
    let open = forge.pulls(true).await?.found;
    let open: BTreeSet<u64> = open.iter().map(|pull| pull.number).collect();
    for issue in waiting {
        let rows = home
            .store
            .firings_of(&repo.name, WorkKey::Issue(issue.number))
            .await?;
        let newest = rows.iter().rev().find_map(|row| row.pr_number);
        let Some(number) = newest.filter(|number| !open.contains(number)) else {
            continue;
        };
        match follow_ended(home, repo, forge, number).await {
            Ok(followed) => changed += u32::from(followed.is_some()),
            // One that is not there, or cannot be read, holds up no other.
            Err(PullError::Forge(error)) if error.is_of_one() => {
                warn!(work.issue = issue.number, pull.number = number, %error, "an issue cannot follow its pull request");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(changed)
}

async fn follow_ended(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    number: u64,
) -> Result<Option<u64>, PullError> {
    follow(home, repo, forge, &forge.pull(number).await?).await
}

/// Ends the open pull requests of firings whose branches people merged or deleted.
async fn follow_branches(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    open: Vec<Pull>,
) -> Result<u32, PullError> {
    // What no firing opened is a person's own.
    let mut ours = Vec::new();
    for pull in open {
        let row = home.store.firing_of_pull(&repo.name, pull.number).await?;
        ours.extend(row.map(|row| (pull, row)));
    }
    if ours.is_empty() {
        return Ok(0);
    }
    let mirror = home.mirror(repo);
    mirror.refresh().await?;
    let mut ended = 0;
    for (pull, row) in ours {
        // A remote without the base is not the one that it was for.
        let Some(base) = mirror.fetched(&pull.base).await? else {
            continue;
        };
        let now = mirror.fetched(&pull.head).await?;
        let pushed = row.pushed_sha.and_then(|commit| commit.parse::<Oid>().ok());
        let is_gone = now.is_none();
        let merged = match now.or(pushed.clone()) {
            Some(head) => {
                let sides = Sides { head, base };
                mirror.has_come_in(&sides, pushed.as_ref()).await?
            }
            None => false,
        };
        if merged {
            forge.merge_pull(pull.number, &Merge::default()).await?;
        } else if is_gone {
            forge.close_pull(pull.number).await?;
        } else {
            continue;
        }
        info!(
            pull.number = pull.number,
            merged, "a pull request was ended by its branch"
        );
        ended += 1;
    }
    Ok(ended)
}

/// What an ended pull request means for the issue that waits for it; that issue, if it goes on now.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn follow(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    pull: &Pull,
) -> Result<Option<u64>, PullError> {
    let rows = home.store.firings_of_pull(&repo.name, pull.number).await?;
    // Who mended it has the pull request for its work.
    let issue = rows.iter().rev().find_map(|row| match row.work {
        Some(WorkKey::Issue(number)) => Some((number, row)),
        _ => None,
    });
    let Some((number, row)) = issue else {
        return Ok(None);
    };
    match forge.issue(number).await {
        Ok(issue) if issue.has(PR_OPEN) => {}
        // Somebody removed it: there is nothing that could follow.
        Ok(_) | Err(ForgeError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    match pull.state {
        PullState::Open => return Ok(None),
        PullState::Merged => {
            forge.set_labels(number, &[DONE], &[PR_OPEN]).await?;
            forge.close_issue(number).await?;
        }
        // The role's next firing finds the no, and hands the issue to people.
        PullState::Closed => {
            let role = home.fleet.roles.get(&row.role);
            let ready = role.and_then(|role| role.work.label());
            let (add, _) = labels_after(Outcome::Skipped, false, ready);
            let add: Vec<&str> = add.iter().map(String::as_str).collect();
            forge.set_labels(number, &add, &[PR_OPEN]).await?;
        }
    }
    info!(
        work.issue = number,
        pull.number = pull.number,
        "an issue follows its pull request"
    );
    Ok(Some(number))
}

/// The turn of whoever merges a pull request, closes it or takes it back: of two that look at one that is open, the
/// second has to see what the first made of it. None where the other takes too long.
pub async fn turn_to_end(home: &Home) -> Option<Turn> {
    Turns::Ends.soon(home).await
}

/// Merges the branch of a pull request into its base, where the forge does not do that itself; the
/// remote's new commit. `expected` is the commit that was looked at: nothing else is merged.
///
/// # Errors
/// When they conflict, the branch is gone or has moved, or the remote refuses.
pub async fn merge_branch(
    home: &Home,
    repo: &Repo,
    pull: &Pull,
    expected: Option<&str>,
) -> Result<Oid, PullError> {
    let mirror = home.mirror(repo);
    let (sides, pushed) = sides(home, repo, pull).await?;
    if let Some(expected) = expected.filter(|expected| sides.head.as_str() != *expected) {
        return Err(PullError::Forge(ForgeError::HeadMoved {
            number: pull.number,
            expected: expected.to_owned(),
            found: sides.head.to_string(),
        }));
    }
    // Somebody did that before; it was only not noted.
    if mirror.has_come_in(&sides, pushed.as_ref()).await? {
        return Ok(sides.base);
    }
    let title = untrusted::one_line(&pull.title, TITLE_MAX);
    let message = format!("Merge pull request #{}: {title}\n", pull.number);
    Ok(mirror.merge(&sides, &pull.base, &message).await?)
}

/// Whether its base has all of what it offers: somebody merged its branch by git.
///
/// # Errors
/// When its branch is gone, or the remote cannot be reached.
pub async fn is_in_its_base(home: &Home, repo: &Repo, pull: &Pull) -> Result<bool, PullError> {
    let (sides, pushed) = sides(home, repo, pull).await?;
    let mirror = home.mirror(repo);
    Ok(mirror.has_come_in(&sides, pushed.as_ref()).await?)
}

/// What a pull request changes, as a diff.
///
/// # Errors
/// When its branch is gone, or the remote cannot be reached.
pub async fn diff(home: &Home, repo: &Repo, pull: &Pull) -> Result<String, PullError> {
    let (sides, _) = sides(home, repo, pull).await?;
    Ok(home.mirror(repo).diff(&sides).await?)
}

/// Both branches, as the remote has them now, of one that is gone what its firing pushed; and that.
async fn sides(home: &Home, repo: &Repo, pull: &Pull) -> Result<(Sides, Option<Oid>), PullError> {
    let mirror = home.mirror(repo);
    mirror.refresh().await?;
    let base = mirror.resolve(&pull.base).await?;
    let row = home.store.firing_of_pull(&repo.name, pull.number).await?;
    let pushed = row.and_then(|row| row.pushed_sha?.parse::<Oid>().ok());
    let head = mirror.fetched(&pull.head).await?;
    let head = head.or_else(|| pushed.clone());
    let head = head.ok_or_else(|| PullError::NoBranch(pull.head.clone()))?;
    Ok((Sides { head, base }, pushed))
}
