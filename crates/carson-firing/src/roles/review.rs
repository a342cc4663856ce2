//! A pull request gets a review of exactly its newest commit, by a mind that did not write it.

use carson_core::settle::{Goal, Halt};
use carson_core::work::WorkKey;
use carson_core::{AccountName, Effect, Outcome, Page};
use carson_forge::{Committed, Pull, ShipVerdict};
use carson_store::Firing as Row;
use chrono::{DateTime, Utc};
use tracing::info;

use super::kind::{Closing, Kind, Look, Looking};
use super::{pulls, quiet, take};
use crate::ctx::Ctx;
use crate::reached::Taken;
use crate::record::Record;
use crate::review_queue::QueueError;
use crate::session::failover;
use carson_home::halt::OrBroken;

/// The oldest pull request whose newest commit the fleet has not reviewed.
const LOOK: Look = |looking| {
    Box::pin(pulls::first(looking, |looking, pull| {
        Box::pin(one(looking, pull))
    }))
};

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: Some(LOOK),
    goal: |_| Goal::Effects,
    effects,
};

/// One of them, or why it is not reviewed now.
async fn one(looking: Looking<'_>, pull: Pull) -> pulls::Judged {
    let Looking {
        home,
        role,
        repo,
        forge,
        by_hand,
        ..
    } = looking;
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
    if !by_hand && failed >= role.limits.max_work_attempts as usize {
        let why = format!("{failed} firings could not review this commit");
        return Ok(Err(why));
    }
    // Who names it does not wait.
    if !by_hand {
        let came = pushed_by_people(&looking, pull.number, (&head, &verdicts)).await?;
        if let Some(why) = quiet::stirs(came, home.clock.now()) {
            return Ok(Err(why));
        }
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

/// When the commits were made that nobody has reviewed. The fleet itself pushes once, and rests.
async fn pushed_by_people(
    looking: &Looking<'_>,
    number: u64,
    (head, verdicts): (&str, &[ShipVerdict]),
) -> Result<Vec<DateTime<Utc>>, QueueError> {
    let name = &looking.repo.name;
    let rows = looking.home.store.firings_of_pull(name, number).await?;
    if rows
        .iter()
        .any(|row| row.pushed_sha.as_deref() == Some(head))
    {
        return Ok(Vec::new());
    }
    let commits = pulls::or_none(looking.forge.commits(number).await)?;
    let is_seen = |one: &Committed| verdicts.iter().any(|verdict| verdict.head == one.sha);
    let new = commits.iter().rev().take_while(|one| !is_seen(one));
    Ok(new.map(|one| one.at).collect())
}

fn short(sha: &str) -> String {
    sha.chars().take(10).collect()
}

async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let taken = take::pick(ctx, rec, LOOK).await?;
    if let (Some(number), None) = (taken.work.key.number(), &taken.decided) {
        let author = ctx.store().firing_of_pull(&taken.repo.name, number).await;
        let author = author.or_broken("finding who wrote it")?;
        another_mind(ctx, rec, author.as_ref()).await;
    }
    Ok(taken)
}

/// Uses the role's first account of another vendor than the one that wrote it, if one can be used.
async fn another_mind(ctx: &Ctx<'_>, rec: &mut Record, author: Option<&Row>) {
    let Some(wrote) = author.and_then(|row| row.engine.as_deref()) else {
        return;
    };
    let accounts = &ctx.home.fleet.accounts;
    let is_other = |name: &&AccountName| {
        let account = accounts.get(*name);
        account.is_some_and(|account| account.engine.to_string() != wrote)
    };
    for other in ctx.role.engines.iter().filter(is_other) {
        if failover::is_free(ctx, other).await && failover::can_be_used(ctx, rec, other).await {
            info!(firing.id = %ctx.id, account = %other, wrote, "another vendor reviews it");
            let other = other.clone();
            rec.count(ctx, |tally| tally.account = Some(other)).await;
            return;
        }
    }
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
