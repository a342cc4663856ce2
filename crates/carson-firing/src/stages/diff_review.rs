//! A fresh session judges the diff; one fix round, then it is yes or no.

use carson_core::settle::{DiffReviewFact, Halt, PromiseFact};
use carson_core::{Sentinel, Stage, Verdict};

use super::OrBroken;
use super::execute::{Executed, attempts};
use super::facts::Findings;
use crate::firing::Firing;
use crate::prompt::Filling;
use crate::session;

/// A diff larger than this is shown in part; the reviewer can read the rest in the worktree.
const DIFF_MAX: usize = 200 * 1024;

pub(crate) async fn run(firing: &Firing<'_>, executed: Executed<'_, '_>) -> Result<Findings, Halt> {
    let mut found = Findings {
        sentinel: Some(executed.sentinel.clone()),
        promise: executed.promise,
        ..Findings::default()
    };
    let ready = matches!(executed.sentinel, Sentinel::Ok(_))
        && executed.promise != PromiseFact::Failed
        && firing.has_stage(Stage::DiffReview);
    if !ready || !has_commits(&executed).await? {
        return Ok(found);
    }
    let mut review = judge(firing, &executed).await?;
    if review.verdict == Verdict::Revise {
        let fixed = fix(firing, &executed, review.text).await?;
        (found.sentinel, found.promise) = (Some(fixed.0), fixed.1);
        review = judge(firing, &executed).await?;
    }
    found.diff_review = match review.verdict {
        Verdict::Approve => DiffReviewFact::Approved,
        Verdict::Revise | Verdict::Reject => DiffReviewFact::Rejected,
    };
    Ok(found)
}

struct Review {
    verdict: Verdict,
    text: String,
}

async fn has_commits(executed: &Executed<'_, '_>) -> Result<bool, Halt> {
    let facts = executed
        .placed
        .place
        .worktree
        .facts()
        .await
        .or_broken("reading the worktree")?;
    Ok(facts.commits > 0)
}

async fn judge(firing: &Firing<'_>, executed: &Executed<'_, '_>) -> Result<Review, Halt> {
    let diff = executed
        .placed
        .place
        .worktree
        .diff(DIFF_MAX)
        .await
        .or_broken("reading the diff")?;
    let mut text = diff.text;
    if diff.truncated {
        text.push_str("\n… the diff goes on; read the rest in the worktree …");
    }
    let filling = Filling {
        plan: executed.plan.clone(),
        diff: Some(text),
        ..Filling::default()
    };
    let text = session::read_only(firing, &executed.placed, Stage::DiffReview, &filling).await?;
    match Verdict::parse(&text) {
        Some(verdict) => Ok(Review { verdict, text }),
        None => Err(Halt::NoSentinel(Stage::DiffReview.to_string())),
    }
}

/// The one fix round: findings go to a fresh execute session, and the promise is run again.
async fn fix(
    firing: &Firing<'_>,
    executed: &Executed<'_, '_>,
    findings: String,
) -> Result<(Sentinel, PromiseFact), Halt> {
    let filling = Filling {
        plan: executed.plan.clone(),
        findings: Some(findings),
        ..Filling::default()
    };
    attempts(firing, &executed.placed, filling, 1).await
}
