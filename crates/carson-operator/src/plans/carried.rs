//! What follows from a decision.

use carson_firing::{IssueIn, drop_plans};
use carson_forge::{NEEDS_HUMAN, PLAN_APPROVED, PLAN_PENDING};
use carson_home::Home;
use carson_store::{ApprovalRow, Decision, PlanAt};

use super::text::what;
use crate::issues::Create;
use crate::refusal::Refusal;

/// What became of a question.
#[derive(Debug)]
pub struct Decided {
    /// What it was about, in a few words.
    pub what: String,
    /// What was said.
    pub decision: Decision,
    /// The issues that there are now; those that the forge does not take now follow.
    pub filed: Vec<IssueIn>,
}

/// Does it; whoever comes again does the rest.
pub(super) async fn carry_out(
    home: &Home,
    row: &ApprovalRow,
    decision: Decision,
) -> Result<Decided, Refusal> {
    let filed = match (row.plan, decision) {
        (Some(plan), Decision::Approved) => approve(home, plan).await?,
        (Some(_), Decision::Rejected) => {
            reject(home, row).await?;
            Vec::new()
        }
        (None, Decision::Approved) => vec![make(home, row).await?],
        (None, Decision::Rejected) | (_, Decision::Gone) => Vec::new(),
    };
    home.store.close_approval(&row.id, home.clock.now()).await?;
    Ok(Decided {
        what: what(&row.repo, row.issue),
        decision,
        filed,
    })
}

async fn approve(home: &Home, (id, n): PlanAt) -> Result<Vec<IssueIn>, Refusal> {
    let Some(firing) = home.store.firing(id).await? else {
        return Ok(Vec::new());
    };
    Ok(carson_firing::approve(home, &(firing, n)).await?)
}

/// Nothing of it is filed; only a person gives the issue back.
async fn reject(home: &Home, row: &ApprovalRow) -> Result<(), Refusal> {
    let (Some(repo), Some(issue)) = (home.fleet.repos.get(&row.repo), row.issue) else {
        return Ok(());
    };
    drop_plans(home, repo, issue).await?;
    let forge = home.forge(repo).await?;
    let said = "A person rejected this plan, so nothing of it is filed. Remove the label `needs:human` \
                to have it planned anew.";
    let key = format!("rejected-{}", row.hash);
    forge.comment_once(issue, &key, said).await?;
    let waits = [PLAN_PENDING, PLAN_APPROVED];
    forge.set_labels(issue, &[NEEDS_HUMAN], &waits).await?;
    Ok(())
}

/// The issue that was asked for.
async fn make(home: &Home, row: &ApprovalRow) -> Result<IssueIn, Refusal> {
    let create = Create {
        title: row.body.clone(),
        body: String::new(),
        labels: Vec::new(),
        repo: Some(row.repo.to_string()),
    };
    let issue = create.once(home, &format!("asked-{}", row.id)).await?;
    Ok(IssueIn {
        repo: row.repo.clone(),
        number: issue.number,
    })
}
