//! The only way in which a question is decided.

use carson_config::Repo;
use carson_core::Event;
use carson_forge::{PLAN_PENDING, State};
use carson_home::Home;
use carson_store::{ApprovalRow, Decision, PlanAt};

use super::carried::{Decided, carry_out};
use super::noted::note_plans;
use super::text::{self, what};
use crate::refusal::Refusal;

/// What somebody says to a question.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'c> {
    /// The question.
    pub id: &'c str,
    /// Names what they read.
    pub hash: &'c str,
    /// What they say.
    pub decision: Decision,
    /// Who, and by which way. Whether they may was asked before.
    pub by: &'c str,
}

/// Why a decision is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Nobody asked that.
    Unknown,
    /// The hash is not that of the question.
    OtherText,
    /// It was decided before.
    Decided,
    /// It came too late.
    Expired,
    /// The plan that waits now is another one.
    Changed,
}

impl Bad {
    /// In one sentence.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::Unknown => "there is no such question",
            Self::OtherText => "what it names is not what was asked",
            Self::Decided => "it was decided before",
            Self::Expired => "it has expired",
            Self::Changed => "the plan has changed, or waits no more",
        }
    }
}

/// Decides a question, once, and does what follows.
///
/// # Errors
/// When the store or the forge does not answer. What is decided by then is carried out later.
pub async fn decide(home: &Home, choice: &Choice<'_>) -> Result<Result<Decided, Bad>, Refusal> {
    match take(home, choice).await? {
        Ok(row) => Ok(Ok(carry_out(home, &row, choice.decision).await?)),
        Err(bad) => {
            let event = Event::ApprovalRefused {
                by: choice.by.to_owned(),
                why: bad.why(),
            };
            home.store
                .event(&event, None, None, home.clock.now())
                .await?;
            Ok(Err(bad))
        }
    }
}

/// The row, where the decision is ours.
async fn take(home: &Home, choice: &Choice<'_>) -> Result<Result<ApprovalRow, Bad>, Refusal> {
    let (store, now) = (&home.store, home.clock.now());
    let Some(row) = store.approval(choice.id).await? else {
        return Ok(Err(Bad::Unknown));
    };
    if row.hash != choice.hash {
        return Ok(Err(Bad::OtherText));
    }
    if row.decision.is_some() {
        return Ok(Err(Bad::Decided));
    }
    if row.expires_at <= now {
        return Ok(Err(Bad::Expired));
    }
    if let Some(plan) = row.plan
        && hash_now(home, &row, plan).await?.as_deref() != Some(choice.hash)
    {
        return Ok(Err(Bad::Changed));
    }
    let said = (choice.decision, choice.by);
    let event = Event::ApprovalDecided {
        what: what(&row.repo, row.issue),
        decision: choice.decision.as_str(),
        by: choice.by.to_owned(),
    };
    let event = (&event, row.plan.map(|(firing, _)| firing));
    if !store
        .decide_approval(&row.id, choice.hash, said, event, now)
        .await?
    {
        // Somebody else was faster.
        return Ok(Err(Bad::Decided));
    }
    Ok(Ok(row))
}

/// What names the plan that waits on its issue now, if it is this one.
async fn hash_now(home: &Home, row: &ApprovalRow, plan: PlanAt) -> Result<Option<String>, Refusal> {
    let (Some(repo), Some(issue)) = (home.fleet.repos.get(&row.repo), row.issue) else {
        return Ok(None);
    };
    // Whoever closed the issue, or took the label away, has dropped its plan.
    let on = home.forge(repo).await?.issue(issue).await?;
    if on.state != State::Open || !on.has(PLAN_PENDING) {
        return Ok(None);
    }
    let newest = carson_firing::waiting_plan(home, repo, issue).await?;
    let Some((firing, _)) = newest.filter(|(firing, n)| (firing.id, *n) == plan) else {
        return Ok(None);
    };
    let effects = home.store.effects(firing.id).await?;
    Ok(Some(text::hash_of_plan(&repo.name, issue, &effects)))
}

/// The same of the plan that waits on an issue, as a command names it.
///
/// # Errors
/// When no plan waits there, its decision is none, or the store or the forge does not answer.
pub async fn on_issue(
    home: &Home,
    repo: &Repo,
    issue: u64,
    (decision, by): (Decision, &str),
) -> Result<Decided, Refusal> {
    let refuse = |problem: &str| Refusal::Issue {
        number: issue,
        problem: problem.to_owned(),
    };
    if home.forge(repo).await?.issue(issue).await?.state != State::Open {
        return Err(refuse("it is closed, which drops its plan"));
    }
    let Some((firing, n)) = carson_firing::waiting_plan(home, repo, issue).await? else {
        return Err(refuse(
            "no plan waits on it: it was approved, dropped, or never made",
        ));
    };
    if firing.ended_at.is_none() {
        return Err(refuse(
            "its planner's firing still ends; say it again in a moment",
        ));
    }
    note_plans(home).await?;
    let Some(row) = home.store.approval_of((firing.id, n)).await? else {
        return Err(refuse(
            "a newer plan takes its place; say it again in a moment",
        ));
    };
    let choice = Choice {
        id: &row.id,
        hash: &row.hash,
        decision,
        by,
    };
    decide(home, &choice)
        .await?
        .map_err(|bad| refuse(bad.why()))
}
