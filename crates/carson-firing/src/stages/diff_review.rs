//! A fresh session judges the diff, in a clean room on exactly the commit that would be pushed; one fix
//! round, then it is yes or no.

use std::sync::Arc;

use carson_core::settle::{DiffReviewFact, Halt, PromiseFact};
use carson_core::text::matches;
use carson_core::{Sentinel, Stage, Verdict};
use carson_git::{Oid, Seen, Shown};
use carson_store::Judged;

use super::execute::{Done, Executed, attempts};
use super::facts::Findings;
use super::leaving;
use super::review::note_findings;
use super::verify;
use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::prompt::Filling;
use crate::record::Record;
use crate::said_last::no_sentinel;
use crate::session::{self, Ask};
use carson_home::halt::OrBroken;

/// Files that are named to the reviewer one by one.
const NAMED: usize = 200;

pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    executed: &mut Executed<'_, '_>,
) -> Result<Findings, Halt> {
    let mut found = Findings::of(&executed.done);
    let done = &executed.done;
    let ready = matches!(done.sentinel, Sentinel::Ok(_))
        && done.promise != PromiseFact::Failed
        && ctx.has_stage(Stage::DiffReview);
    let seen = executed.placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if !ready || seen.facts().commits == 0 {
        return Ok(found);
    }
    let mut review = judge(ctx, rec, executed, seen).await?;
    if review.verdict == Verdict::Revise {
        let fixed = fix(ctx, rec, executed, review.text).await?;
        found = Findings::of(&fixed);
        let seen = executed.placed.place.inspect().await;
        let seen = seen.or_broken("looking at the worktree")?;
        review = judge(ctx, rec, executed, seen).await?;
    }
    found.diff_review = match review.verdict {
        Verdict::Approve => DiffReviewFact::Approved,
        Verdict::Revise | Verdict::Reject => DiffReviewFact::Rejected,
    };
    if found.diff_review == DiffReviewFact::Approved {
        verify::record_judged(ctx, Judged::Reviewed, &review.commit).await;
    }
    found.reviewed = Some(review.commit);
    found.unshown = review.unshown;
    Ok(found)
}

struct Review {
    verdict: Verdict,
    text: String,
    commit: Oid,
    /// What the reviewer was not shown, and nobody allowed.
    unshown: Vec<String>,
}

async fn judge(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    executed: &mut Executed<'_, '_>,
    seen: Arc<Seen>,
) -> Result<Review, Halt> {
    let placed = &mut executed.placed;
    let (commit, none) = (seen.tip().clone(), Shown::default());
    // Without one, nobody could list what was changed.
    let shown = seen.shown().unwrap_or(&none);
    let unshown = unshown(seen.shown(), &placed.taken.repo.allow_unshown);
    let filling = Filling {
        plan: executed.plan.clone(),
        diff: Some(with_list(shown)),
        ..Filling::default()
    };
    leaving::search_ahead(ctx, placed.taken, &seen, &mut placed.place.ahead);
    let room = match placed.place.room_of(&commit) {
        Some(room) => room,
        None => clean_rooms::with_commit(ctx, rec, placed, &seen, &commit).await?,
    };
    let ask = Ask {
        stage: Stage::DiffReview,
        bench: &room,
        filling: &filling,
        must_change: false,
    };
    let text = session::read_only(ctx, rec, placed, ask).await?;
    let verdict = Verdict::parse(&text);
    note_findings(ctx, Stage::DiffReview, verdict).await;
    match verdict {
        Some(verdict) => Ok(Review {
            verdict,
            text,
            commit,
            unshown,
        }),
        None => Err(no_sentinel(Stage::DiffReview, &text)),
    }
}

/// The diff, and what it leaves out: the reviewer can look at that in the worktree.
fn with_list(shown: &Shown) -> String {
    let mut text = shown.text.clone();
    if shown.unshown.is_empty() && shown.more == 0 {
        return text;
    }
    text.push_str("\nNot shown above; read these in the worktree as far as you can:\n");
    for one in shown.unshown.iter().take(NAMED) {
        text.push_str(&format!("- {}: {}\n", one_line(&one.path), one.why));
    }
    let more = shown.more + shown.unshown.len().saturating_sub(NAMED) as u64;
    if more > 0 {
        text.push_str(&format!("- and {more} more\n"));
    }
    text
}

/// What counts as a finding because no reviewer saw it.
fn unshown(shown: Option<&Shown>, allowed: &[String]) -> Vec<String> {
    let Some(shown) = shown else {
        return vec!["the change has too many paths to be shown".to_owned()];
    };
    let is_allowed = |path: &str| allowed.iter().any(|pattern| matches(pattern, path));
    let listed = shown.unshown.iter().filter(|one| !is_allowed(&one.path));
    let mut all: Vec<String> = listed
        .map(|one| format!("{}: {}", one_line(&one.path), one.why))
        .collect();
    if shown.more > 0 {
        all.push(format!("{} more files", shown.more));
    }
    all
}

/// The one fix round: findings go to a fresh execute session, and the promise is run again.
async fn fix(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    executed: &mut Executed<'_, '_>,
    findings: String,
) -> Result<Done, Halt> {
    let filling = Filling {
        plan: executed.plan.clone(),
        findings: Some(findings),
        ..Filling::default()
    };
    attempts(ctx, rec, &mut executed.placed, filling, 1).await
}
