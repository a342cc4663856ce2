//! What waits in the roles' queues, and on what.

use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::{RepoName, RoleName};
use carson_firing::queue::look;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// How long one forge is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// What waits, and on what?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {}

/// The queue of a role in one repository.
#[derive(Debug, Serialize)]
pub struct QueueOf {
    /// The role.
    pub role: RoleName,
    /// The repository.
    pub repo: RepoName,
    /// What may be taken, in its order.
    pub ready: Vec<InQueue>,
    /// What may not, and why.
    pub held: Vec<InQueue>,
    /// Why nothing is known of it.
    pub unknown: Option<String>,
}

/// An issue in a queue.
#[derive(Debug, Serialize)]
pub struct InQueue {
    /// Its number.
    pub number: u64,
    /// Its title, redacted; none of what only people may take.
    pub title: Option<String>,
    /// Why it is not taken.
    pub why: Option<String>,
}

impl Ask for Queue {
    const NAME: &'static str = "queue list";
    const WHAT: &'static str = "List what waits in the roles' queues, and on what";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<QueueOf>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let mut all = Vec::new();
        for role in home.fleet.roles.values() {
            if role.work.label().is_none() {
                continue;
            }
            let repos = role.repos.iter();
            for repo in repos.filter_map(|name| home.fleet.repos.get(name)) {
                all.push(queue_of(home, role, repo).await);
            }
        }
        Ok(all)
    }
}

async fn queue_of(home: &Home, role: &Role, repo: &Repo) -> QueueOf {
    let mut told = QueueOf {
        role: role.name.clone(),
        repo: repo.name.clone(),
        ready: Vec::new(),
        held: Vec::new(),
        unknown: None,
    };
    let asked = async {
        let forge = home.forge(repo).await.map_err(|error| error.to_string())?;
        let looked = look(home, role, repo, &forge).await;
        looked.map_err(|error| error.to_string())
    };
    let looked = match timeout(PATIENCE, asked).await {
        Ok(Ok(looked)) => looked,
        Ok(Err(why)) => {
            told.unknown = Some(why);
            return told;
        }
        Err(_) => {
            told.unknown = Some("its forge does not answer".to_owned());
            return told;
        }
    };
    let title = |title: &str| Some(home.redactor.redact(title).into_owned());
    let ready = looked.ready.iter().map(|issue| InQueue {
        number: issue.number,
        title: title(&issue.title),
        why: None,
    });
    told.ready = ready.collect();
    let held = looked.held_issues().into_iter().map(|held| {
        let of = looked
            .held
            .iter()
            .find(|(issue, _)| issue.number == held.number);
        InQueue {
            number: held.number,
            title: of.and_then(|(issue, _)| title(&issue.title)),
            why: Some(held.why.to_string()),
        }
    });
    told.held = held.collect();
    told
}
