//! A fresh session judges the diff, in a clean room on exactly the commit that would be pushed; one fix
//! round, then it is yes or no.

use std::sync::Arc;

use carson_core::settle::{DiffReviewFact, Halt, PromiseFact};
use carson_core::{Sentinel, Stage, Verdict};
use carson_git::{Oid, Seen, Shown, matches};
use carson_store::Judged;

use super::OrBroken;
use super::execute::{Done, Executed, attempts};
use super::facts::Findings;
use super::verify;
use crate::firing::Firing;
use crate::messages::one_line;
use crate::prompt::Filling;
use crate::rooms;
use crate::session;

/// Files that are named to the reviewer one by one.
const NAMED: usize = 200;

pub(crate) async fn run(firing: &Firing<'_>, executed: Executed<'_, '_>) -> Result<Findings, Halt> {
    let mut found = Findings::of(&executed.done);
    let done = &executed.done;
    let ready = matches!(done.sentinel, Sentinel::Ok(_))
        && done.promise != PromiseFact::Failed
        && firing.has_stage(Stage::DiffReview);
    let seen = executed.placed.place.look().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if !ready || seen.facts().commits == 0 {
        return Ok(found);
    }
    let mut review = judge(firing, &executed, seen).await?;
    if review.verdict == Verdict::Revise {
        let fixed = fix(firing, &executed, review.text).await?;
        found = Findings::of(&fixed);
        let seen = executed.placed.place.look().await;
        review = judge(
            firing,
            &executed,
            seen.or_broken("looking at the worktree")?,
        )
        .await?;
    }
    found.diff_review = match review.verdict {
        Verdict::Approve => DiffReviewFact::Approved,
        Verdict::Revise | Verdict::Reject => DiffReviewFact::Rejected,
    };
    if found.diff_review == DiffReviewFact::Approved {
        verify::note(firing, Judged::Reviewed, &review.commit).await;
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
    firing: &Firing<'_>,
    executed: &Executed<'_, '_>,
    seen: Arc<Seen>,
) -> Result<Review, Halt> {
    let placed = &executed.placed;
    let (commit, none) = (seen.tip().clone(), Shown::default());
    // Without one, nobody could list what was changed.
    let shown = seen.shown().unwrap_or(&none);
    let unshown = unshown(seen.shown(), &placed.taken.repo.allow_unshown);
    let filling = Filling {
        plan: executed.plan.clone(),
        diff: Some(with_list(shown)),
        ..Filling::default()
    };
    let room = rooms::with_commit(firing, placed, &seen, &commit).await?;
    let text = session::read_only(firing, placed, &room, Stage::DiffReview, &filling).await;
    rooms::clear(firing, placed).await;
    let text = text?;
    match Verdict::parse(&text) {
        Some(verdict) => Ok(Review {
            verdict,
            text,
            commit,
            unshown,
        }),
        None => Err(Halt::NoSentinel(Stage::DiffReview.to_string())),
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
    firing: &Firing<'_>,
    executed: &Executed<'_, '_>,
    findings: String,
) -> Result<Done, Halt> {
    let filling = Filling {
        plan: executed.plan.clone(),
        findings: Some(findings),
        ..Filling::default()
    };
    attempts(firing, &executed.placed, filling, 1).await
}
