//! A pull request gets a review of exactly its newest commit, by a mind that did not write it.

use carson_core::settle::{Goal, Halt};
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, Page};
use carson_forge::Pull;
use carson_store::Firing as Row;
use tracing::info;

use super::candidates::{Candidate, Candidates};
use super::kind::{Closing, Kind, Look, Looking};
use super::{pulls, take};
use crate::ctx::Ctx;
use crate::reached::Taken;
use crate::record::Record;
use crate::review_queue::QueueError;
use carson_home::halt::OrBroken;

const LOOK: Look = |looking| Box::pin(look(looking));

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: Some(LOOK),
    goal: |_| Goal::Effects,
    effects,
};

/// The oldest pull request whose newest commit the fleet has not reviewed.
async fn look(looking: Looking<'_>) -> Result<Candidates, QueueError> {
    let mut found = Candidates::default();
    for pull in pulls::open(&looking).await? {
        let key = WorkKey::Pull(pull.number);
        let judged = one(&looking, pull).await;
        found.ready = found.judged(key, judged)?;
        if found.ready.is_some() {
            break;
        }
    }
    Ok(found)
}

/// One of them, or why it is not reviewed now.
async fn one(looking: &Looking<'_>, pull: Pull) -> Result<Result<Candidate, String>, QueueError> {
    let Looking {
        home,
        role,
        repo,
        forge,
        wanted,
    } = *looking;
    if let Some(why) = pulls::kept(role, &pull, home.clock.now()) {
        return Ok(Err(why));
    }
    if pull.head.starts_with(&format!("carson/{}/", role.name)) {
        return Ok(Err("this role wrote it".to_owned()));
    }
    let head = forge.pull_head(pull.number).await?.sha;
    let verdicts = forge.verdicts(pull.number).await?;
    if verdicts.iter().any(|verdict| verdict.head == head) {
        return Ok(Err(format!("its commit {} is reviewed", short(&head))));
    }
    let key = WorkKey::Pull(pull.number);
    let rows = home.store.firings_of(&repo.name, key).await?;
    let failed = rows.iter().filter(|row| {
        // It said nothing: neither does that lead anywhere.
        let silent = row.outcome == Some(Outcome::Silent);
        let blamed = silent || row.outcome.is_some_and(Outcome::blames_the_work);
        blamed && row.role == role.name && row.base_sha.as_deref() == Some(head.as_str())
    });
    let failed = failed.count();
    if wanted.is_none() && failed >= role.limits.max_work_attempts as usize {
        let why = format!("{failed} firings could not review this commit");
        return Ok(Err(why));
    }
    let files = forge.changed_files(pull.number).await?;
    let lines: u64 = files
        .iter()
        .map(|file| file.additions + file.deletions)
        .sum();
    let most = role.limits.max_diff_lines;
    let split = (lines > most).then(|| vec![pulls::split(key, &head, Some((lines, most)))]);
    let mut candidate = pulls::candidate(pull, head);
    candidate.decided = split;
    Ok(Ok(candidate))
}

fn short(sha: &str) -> String {
    sha.chars().take(10).collect()
}

async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let taken = take::pick(ctx, rec, LOOK).await?;
    if let (Some(number), None) = (taken.work.key.number(), &taken.decided) {
        let author = ctx.store().firing_of_pull(&taken.repo.name, number).await;
        let author = author.or_broken("finding who wrote it")?;
        another_mind(ctx, rec, author.as_ref()).await?;
    }
    Ok(taken)
}

/// Uses the role's first free account of another vendor than the one that wrote it, if there is one.
async fn another_mind(ctx: &Ctx<'_>, rec: &mut Record, author: Option<&Row>) -> Result<(), Halt> {
    let Some(wrote) = author.and_then(|row| row.engine.as_deref()) else {
        return Ok(());
    };
    let blocks = ctx.store().blocks().await;
    let blocks = blocks.or_broken("reading the block flags")?;
    let now = ctx.now();
    let other = ctx.role.engines.iter().find(|name| {
        let account = ctx.home.fleet.accounts.get(*name);
        let free = carson_core::admission::admit_account(std::slice::from_ref(name), &blocks, now);
        free.is_ok() && account.is_some_and(|account| account.engine.to_string() != wrote)
    });
    if let Some(other) = other.cloned() {
        info!(firing.id = %ctx.id, account = %other, wrote, "another vendor reviews it");
        rec.count(ctx, |tally| tally.account = Some(other)).await;
    }
    Ok(())
}

/// Its review, headed by what Carson itself knows.
fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    if closing.settled.outcome != Outcome::Ok {
        return Vec::new();
    }
    let effects = closing.facts.declared.effects.iter();
    effects.map(|effect| headed(closing, effect)).collect()
}

fn headed(closing: &Closing<'_, '_>, effect: &Effect) -> Effect {
    let Effect::Review {
        pull,
        head,
        ship,
        body,
    } = effect
    else {
        return effect.clone();
    };
    let (ctx, says) = (closing.ctx, if *ship { "yes" } else { "no" });
    let page = Page::from("Reviewed-head-sha: ")
        .names(head)
        .says("\nShip-ready: ")
        .says(says)
        .says("\n\n")
        .and(body)
        .says("\n\n- role: ")
        .names(&ctx.role.name)
        .says("\n- firing: ")
        .names(ctx.id)
        .says("\n");
    Effect::Review {
        pull: *pull,
        head: head.clone(),
        ship: *ship,
        body: page.without(|text| ctx.redacted(text)),
    }
}
