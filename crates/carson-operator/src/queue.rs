//! What waits in the queues of roles, and on what.

use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::stops::Change;
use carson_core::{RepoName, RoleName};
use carson_firing::queue::stand;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};
use crate::why::{held_work, role_stopped};

/// How long the forge of one queue is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many are asked about and told one by one, as `why` does.
const TOLD: usize = 10;

/// What waits, and on what?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Only for this role.
    pub role: Option<String>,
}

/// The work of one role in one repository.
#[derive(Debug, Serialize)]
pub struct Waiting {
    /// The role.
    pub role: RoleName,
    /// The repository.
    pub repo: RepoName,
    /// What it may take, in its order.
    pub ready: Vec<Ready>,
    /// More of that, not told one by one.
    pub more: usize,
    /// What is held, and on what it waits.
    pub held: Vec<Held>,
    /// What keeps the role itself from firing now.
    pub stopped: Option<String>,
    /// Why nothing is known.
    pub unknown: Option<String>,
}

/// Work that may be taken.
#[derive(Debug, Serialize)]
pub struct Ready {
    /// Its number.
    pub number: u64,
    /// Its title, redacted.
    pub title: String,
}

/// Work that waits.
#[derive(Debug, Serialize)]
pub struct Held {
    /// What is so.
    pub why: String,
    /// What would change it.
    pub change: Change,
}

impl Ask for Queue {
    const NAME: &'static str = "queue";
    const WHAT: &'static str = "Say what waits for which role, and on what";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Waiting>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let roles: Vec<&Role> = match &self.role {
            Some(name) => vec![names::role(&home.fleet, name)?],
            None => home
                .fleet
                .roles
                .values()
                .filter(|role| role.enabled)
                .collect(),
        };
        let mut all = Vec::new();
        for role in roles {
            let stopped = role_stopped(home, role).await?;
            for repo in role
                .repos
                .iter()
                .filter_map(|name| home.fleet.repos.get(name))
            {
                all.push(waiting(home, role, repo, stopped.clone()).await);
            }
        }
        Ok(all)
    }
}

async fn waiting(home: &Home, role: &Role, repo: &Repo, stopped: Option<String>) -> Waiting {
    let (ready, more, unknown) = match timeout(PATIENCE, ready(home, role, repo)).await {
        Ok(Ok((ready, more))) => (ready, more, None),
        Ok(Err(why)) => (Vec::new(), 0, Some(why.to_string())),
        Err(_) => (
            Vec::new(),
            0,
            Some("its forge does not answer in time".to_owned()),
        ),
    };
    let held = match unknown {
        None => held_work(home, role, repo).await,
        Some(_) => Vec::new(),
    };
    Waiting {
        role: role.name.clone(),
        repo: repo.name.clone(),
        ready,
        more,
        held: held
            .into_iter()
            .map(|(why, change)| Held { why, change })
            .collect(),
        stopped,
        unknown,
    }
}

/// The issues that may be taken, and how many more there are.
async fn ready(home: &Home, role: &Role, repo: &Repo) -> Result<(Vec<Ready>, usize), Refusal> {
    let forge = home.forge(repo).await?;
    let now = home.clock.now();
    let stands = stand(home, role, (repo, &forge), TOLD, now).await?;
    let ready = stands.ready.iter().map(|issue| Ready {
        number: issue.number,
        title: home.redactor.redact(&issue.title).into_owned(),
    });
    Ok((ready.collect(), stands.more))
}
