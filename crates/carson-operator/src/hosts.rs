//! The hosts of the fleet: which there are, which take nothing new, which are gone for good.

use carson_core::{FiringId, HostName, RoleName};
use carson_firing::daemons::{Daemon, Life, daemons};
use carson_home::Home;
use carson_store::Firing;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::told;
use crate::verb::{Ask, Who};

/// Which hosts does the fleet have?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

/// A host, and what runs there.
#[derive(Debug, Serialize)]
pub struct Host {
    /// Its daemon.
    #[serde(flatten)]
    pub daemon: Daemon,
    /// Whether it is this one.
    pub here: bool,
    /// Whether its clock is too far from the database's to fire by.
    pub apart: bool,
    /// How many firings run there.
    pub firings: usize,
    /// Which.
    pub running: Vec<Running>,
}

/// A firing that runs on a host, or is concluded there.
#[derive(Debug, Serialize)]
pub struct Running {
    /// Which.
    pub firing: FiringId,
    /// Of which role.
    pub role: RoleName,
    /// The host that it ran on, where that was taken for dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<HostName>,
}

impl Ask for List {
    const NAME: &'static str = "hosts";
    const WHAT: &'static str =
        "List the hosts of the fleet: who lives, what runs there, what is drained";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Host>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        hosts(home).await
    }
}

async fn hosts(home: &Home) -> Result<Vec<Host>, Refusal> {
    let live = home.store.live_firings(None).await?;
    let host = |daemon: Daemon| {
        let name = &daemon.row.name;
        let there = live.iter().filter(|row| seat(row).as_str() == name);
        let running: Vec<Running> = there.map(running).collect();
        Host {
            here: name == home.fleet.host.as_str(),
            apart: daemon.apart().is_some(),
            firings: running.len(),
            running,
            daemon,
        }
    };
    let all = daemons(home, home.clock.now()).await?;
    Ok(all.into_iter().map(host).collect())
}

/// The host that answers for a firing.
fn seat(row: &Firing) -> &HostName {
    row.carrier.as_ref().unwrap_or(&row.host)
}

fn running(row: &Firing) -> Running {
    Running {
        firing: row.id,
        role: row.role.clone(),
        taken_from: (seat(row) != &row.host).then(|| row.host.clone()),
    }
}

/// A host by its name, or which there are.
async fn named(home: &Home, name: &str) -> Result<(HostName, Host), Refusal> {
    let all = hosts(home).await?;
    let known: Vec<String> = all
        .iter()
        .map(|host| host.daemon.row.name.clone())
        .collect();
    let found = all.into_iter().find(|host| host.daemon.row.name == name);
    match (name.parse(), found) {
        (Ok(name), Some(host)) => Ok((name, host)),
        _ => Err(Refusal::Unknown {
            what: "host",
            name: name.to_owned(),
            known,
        }),
    }
}

/// Let nothing new fire on a host; what runs there goes on to its end.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The host.
    pub host: String,
}

/// Let a drained host fire again.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// The host.
    pub host: String,
}

/// How a host stands now.
#[derive(Debug, Serialize)]
pub struct Stands {
    /// Which.
    pub host: HostName,
    /// Whether nothing new fires there.
    pub drained: bool,
    /// Whether that is new.
    pub changed: bool,
    /// Firings that run there.
    pub firings: usize,
}

impl Ask for Drain {
    const NAME: &'static str = "hosts drain";
    const WHAT: &'static str = "Let nothing new fire on a host; what runs goes on to its end";
    const WHO: Who = Who::Operator;
    type Answer = Stands;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        stand(home, &self.host, Some(home.clock.now())).await
    }
}

impl Ask for Resume {
    const NAME: &'static str = "hosts resume";
    const WHAT: &'static str = "Let a drained host fire again";
    const WHO: Who = Who::Operator;
    type Answer = Stands;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        stand(home, &self.host, None).await
    }
}

async fn stand(home: &Home, name: &str, since: Option<DateTime<Utc>>) -> Result<Stands, Refusal> {
    let (host, known) = named(home, name).await?;
    let changed = home.store.drain_host(&host, since).await?;
    if changed {
        let (title, text) = match since {
            Some(_) => (
                format!("Drained: host {host}"),
                format!(
                    "What runs there goes on to its end. `carson hosts resume {host}` lets it fire again."
                ),
            ),
            None => (
                format!("Host {host} fires again"),
                "It was drained.".to_owned(),
            ),
        };
        told::tell(home, None, &title, &text).await;
    }
    Ok(Stands {
        host,
        drained: since.is_some(),
        changed,
        firings: known.firings,
    })
}

/// Forget a host that is gone for good.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The host.
    pub host: String,
}

/// A host is forgotten.
#[derive(Debug, Serialize)]
pub struct Removed {
    /// Which.
    pub host: HostName,
}

impl Ask for Remove {
    const NAME: &'static str = "hosts remove";
    const WHAT: &'static str = "Forget a host that is gone";
    const WHO: Who = Who::Operator;
    type Answer = Removed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let (host, known) = named(home, &self.host).await?;
        // It would be back with its next sign of life, as a new host that nobody drained.
        if known.daemon.life == Life::Runs {
            return Err(stays(format!(
                "{host} lives: drain it (`carson hosts drain {host}`), stop its daemon, and ask again ten seconds later"
            )));
        }
        if !home.store.remove_host(&host).await? {
            return Err(stays(format!(
                "firings of {host} run: they end by their wall clock at the latest, or other hosts conclude them"
            )));
        }
        Ok(Removed { host })
    }
}

fn stays(problem: String) -> Refusal {
    Refusal::Field {
        field: "host",
        problem,
    }
}
