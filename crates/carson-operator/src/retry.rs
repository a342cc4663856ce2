//! An issue that the fleet gave up, or holds no more, is to be tried again.

use carson_config::{Repo, Role};
use carson_core::FiringId;
use carson_core::work::WorkKey;
use carson_firing::drop_plans;
use carson_forge::{DO_NOT_PICKUP, Forge, ForgeError, PullState, State};
use carson_home::Home;
use carson_store::Firing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Let the fleet take an issue up again: what keeps it away is removed, but for `do-not-pickup`, which only
/// a person takes away; and its attempts are counted anew.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// The issue.
    pub issue: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// It may be taken up.
#[derive(Debug, Serialize)]
pub struct Retried {
    /// The issue.
    pub issue: u64,
    /// Its title.
    pub title: String,
    /// Plans that waited for an approval, of which nothing is filed now.
    pub dropped_plans: u32,
    /// The labels that were taken away.
    pub removed: Vec<String>,
    /// The label of a role that was added.
    pub added: Option<String>,
    /// Whether it carries a label by which a person keeps agents away, which stays.
    pub kept_away: bool,
    /// The roles that may take it.
    pub roles: Vec<String>,
}

impl Ask for Retry {
    const NAME: &'static str = "retry";
    const WHAT: &'static str =
        "Let the fleet take an issue up again, with its attempts counted anew";
    const WHO: Who = Who::Operator;
    type Answer = Retried;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let forge = home.forge(repo).await?;
        let issue = forge.issue(self.issue).await?;
        if issue.state != State::Open {
            let number = self.issue;
            return Err(refuse(
                number,
                &format!("it is closed: `carson issue reopen {number}` opens it again"),
            ));
        }
        let closed = refuse_what_goes_on(home, repo, &forge, self.issue).await?;
        let queues = queues(home, repo);
        let has = queues.iter().filter(|(label, _)| issue.has(label));
        let mut labels: Vec<&str> = has.map(|(label, _)| *label).collect();
        let had = match labels.is_empty() {
            true => had(home, repo, self.issue, &queues).await?,
            false => None,
        };
        let added = match (&labels[..], &queues[..]) {
            ([], [(only, _)]) => Some((*only).to_owned()),
            ([], _) if had.is_some() => had.map(str::to_owned),
            ([], []) => {
                let why = "no role takes issues of this repository";
                return Err(refuse(self.issue, why));
            }
            ([], several) => {
                let known: Vec<&str> = several.iter().map(|(label, _)| *label).collect();
                let known = known.join(", ");
                return Err(refuse(
                    self.issue,
                    &format!("it carries no role's label: give it one of {known} first"),
                ));
            }
            _ => None,
        };
        labels.extend(added.as_deref());
        let dropped_plans = drop_plans(home, repo, self.issue).await?;
        if let Some(pull) = closed {
            // Who says this knows of that no: the issue is not handed over for it again.
            let (key, now) = (WorkKey::Issue(self.issue), home.clock.now());
            let known = home.store.remember_refusal(&repo.name, key, pull, now);
            known.await?;
        }
        let removed = forge.begin_anew(&issue, FiringId::new(), &labels).await?;
        let takes = queues.iter().filter(|(label, _)| labels.contains(label));
        Ok(Retried {
            issue: self.issue,
            roles: takes.map(|(_, role)| role.name.to_string()).collect(),
            title: home.redactor.redact(&issue.title).into_owned(),
            removed,
            dropped_plans,
            added,
            kept_away: issue.has(DO_NOT_PICKUP),
        })
    }
}

fn refuse(number: u64, why: &str) -> Refusal {
    Refusal::Issue {
        number,
        problem: why.to_owned(),
    }
}

/// The labels of the roles that take issues there.
fn queues<'h>(home: &'h Home, repo: &Repo) -> Vec<(&'h str, &'h Role)> {
    let roles = home.fleet.roles.values();
    let roles = roles.filter(|role| role.repos.contains(&repo.name));
    roles
        .filter_map(|role| Some((role.work.label()?, role)))
        .collect()
}

/// The label of the role that had it last: what was planned carries it no more.
async fn had<'h>(
    home: &Home,
    repo: &Repo,
    number: u64,
    queues: &[(&'h str, &'h Role)],
) -> Result<Option<&'h str>, Refusal> {
    let rows = home.store.firings_of(&repo.name, WorkKey::Issue(number));
    let rows = rows.await?;
    let of = |row: &Firing| queues.iter().find(|(_, role)| role.name == row.role);
    Ok(rows.iter().rev().find_map(of).map(|(label, _)| *label))
}

/// An issue that somebody works on, or whose work waits for people, is not to be begun anew. Its newest pull request,
/// where people closed that.
async fn refuse_what_goes_on(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    number: u64,
) -> Result<Option<u64>, Refusal> {
    let key = WorkKey::Issue(number);
    let live = home.store.live_firings(None).await?;
    let is_it = |row: &&Firing| row.repo.as_ref() == Some(&repo.name) && row.work == Some(key);
    if let Some(live) = live.iter().find(is_it) {
        let id = live.id.short();
        let why = format!("firing {id} works on it: `carson stop {id}` ends that");
        return Err(refuse(number, &why));
    }
    let rows = home.store.firings_of(&repo.name, key).await?;
    let Some(pull) = rows.iter().rev().find_map(|row| row.pr_number) else {
        return Ok(None);
    };
    let pull = match forge.pull(pull).await {
        Err(ForgeError::NotFound { .. }) => return Ok(None),
        pull => pull?,
    };
    if pull.state == PullState::Open && !pull.draft {
        let pull = pull.number;
        let why = format!(
            "pull request #{pull} of it waits for review: `carson pr close {pull}` closes that"
        );
        return Err(refuse(number, &why));
    }
    let is_no = pull.state == PullState::Closed;
    Ok(is_no.then_some(pull.number))
}
