//! A firing takes work that is no issue of its role's queue.

use carson_config::Repo;
use carson_core::settle::Halt;
use carson_forge::Forge;
use carson_git::{GitError, Sides};
use carson_home::halt::OrBroken;
use tracing::info;

use super::candidates::{Candidate, HeldCandidate};
use super::kind::{Look, Looking};
use super::pulls;
use super::repositories::{asked, check, forge_of, open_to};
use crate::ctx::Ctx;
use crate::reached::{Mends, Taken};
use crate::record::Record;

/// Work that is not taken whose reasons a firing tells.
const TOLD: usize = 3;

/// Takes the first that may be taken, in the first repository that has one.
pub(super) async fn pick<'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    look: Look,
) -> Result<Taken<'h>, Halt> {
    let mut held = Vec::new();
    for repo in open_to(ctx).await? {
        let forge = forge_of(ctx, rec, repo).await?;
        let looking = Looking {
            home: ctx.home,
            role: ctx.role,
            repo,
            forge: &forge,
            wanted: ctx.wanted.work,
            story: None,
            me: Some(ctx.id),
            by_hand: ctx.wanted.work.is_some(),
        };
        let looked = look(looking).await;
        let looked = asked(rec, repo, "looking for work", looked)?;
        rec.checks.pass(format!("repo.{}.forge", repo.name));
        held.extend(looked.held);
        let Some(found) = looked.ready else {
            continue;
        };
        check(ctx, rec, repo, &forge).await?;
        match take(ctx, (repo, forge), found).await? {
            Took::It(taken) => return Ok(*taken),
            Took::NotNow(one) => held.push(one),
        }
    }
    Err(nothing(&held))
}

pub(super) fn nothing(held: &[HeldCandidate]) -> Halt {
    if held.is_empty() {
        return Halt::NothingToDo;
    }
    let told = held.iter().take(TOLD);
    let told = told.map(|one| format!("{} is not taken: {}", one.key.reference(), one.why));
    let mut told = told.collect::<Vec<_>>().join("; ");
    if held.len() > TOLD {
        told.push_str(&format!("; {} more", held.len() - TOLD));
    }
    Halt::NothingReady(told)
}

/// What became of one.
pub(super) enum Took<'h> {
    /// It is ours.
    It(Box<Taken<'h>>),
    /// Something is in the way now.
    NotNow(HeldCandidate),
}

pub(super) async fn take<'h>(
    ctx: &Ctx<'h>,
    (repo, forge): (&'h Repo, Forge),
    found: Candidate,
) -> Result<Took<'h>, Halt> {
    let not_now = |why: &str| {
        Ok(Took::NotNow(HeldCandidate {
            key: found.key,
            why: why.to_owned(),
        }))
    };
    let mut taken = Taken::new(repo, forge, found.work(ctx.home));
    taken.decided.clone_from(&found.decided);
    taken.story.clone_from(&found.story);
    if let (Some(shown), None) = (&found.shown, &found.decided) {
        let mirror = ctx.home.mirror(repo);
        let head = mirror.fetched(&shown.branch).await;
        let head = head.or_broken("finding the branch of the pull request")?;
        let Some(head) = head.filter(|head| head.as_str() == shown.head) else {
            return not_now("its branch moved a moment ago");
        };
        taken.mends = found.findings.map(|(findings, threads)| Mends {
            branch: shown.branch.clone(),
            findings,
            threads,
        });
        // Who mends it looks for themselves.
        if taken.mends.is_none() {
            let base = mirror.resolve(&shown.base).await;
            let base = base.or_broken("finding its base branch")?;
            let head = head.clone();
            match mirror.diff(&Sides { head, base }).await {
                Ok(diff) if diff.len() <= pulls::DIFF_BYTES => taken.diff = Some(diff),
                Ok(_) | Err(GitError::TooMuch { .. }) => {
                    taken.decided = Some(vec![pulls::split(found.key, &shown.head, None)]);
                }
                Err(error) => return Err(error).or_broken("reading what it changes"),
            }
        }
        taken.at = Some(head);
    }
    let title = &taken.work.title;
    let free = ctx
        .as_firing()
        .take_work(&repo.name, found.key, title)
        .await;
    if !free.or_broken("taking the work")? {
        return not_now("another firing has it");
    }
    if let Some(story) = &taken.story {
        // Another firing may have begun and ended since we looked.
        let rows = ctx.store().firings_of(&repo.name, found.key).await;
        let rows = rows.or_broken("reading who had it before")?;
        let others = rows.iter().filter(|row| row.id != ctx.id).count();
        if others != story.firings {
            return not_now("another firing had it a moment ago");
        }
    }
    info!(firing.id = %ctx.id, repo = %repo.name, work = %found.key, "work taken");
    Ok(Took::It(Box::new(taken)))
}
