//! Workspaces, and the layers that they stand on.

use carson_bench::layers::{self, FailedSetup, Layer, Possible, Pruned};
use carson_config::Workspaces;
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// What do workspaces stand on, and how much of the disk does that take?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

/// The layers of this host.
#[derive(Debug, Serialize)]
pub struct Layers {
    /// The layers, the one that was used last first.
    pub layers: Vec<Layer>,
    /// Setups that failed as they are now, and have not passed since.
    pub failed: Vec<FailedSetup>,
    /// Bytes that all of them take.
    pub bytes: u64,
    /// Bytes that they may take together.
    pub most_bytes: u64,
    /// What workspaces are made of here.
    pub kind: Workspaces,
    /// Why they stand on no layers, if they do not.
    pub because: Option<String>,
}

impl Ask for List {
    const NAME: &'static str = "workspaces";
    const WHAT: &'static str = "List what workspaces stand on, and what it takes of the disk";
    const WHO: Who = Who::Anyone;
    type Answer = Layers;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let layers = layers::all(home);
        let (kind, because) = kind(home).await;
        let repos = home.fleet.repos.values();
        Ok(Layers {
            bytes: layers::bytes_taken(&layers),
            most_bytes: most_bytes(home),
            failed: repos
                .flat_map(|repo| layers::failures(home, repo))
                .collect(),
            layers,
            kind,
            because,
        })
    }
}

async fn kind(home: &Home) -> (Workspaces, Option<String>) {
    let asked = home.fleet.workspaces;
    let why = match asked {
        Workspaces::Layers => match layers::possible(home).await {
            Possible::Yes(_) => return (Workspaces::Layers, None),
            Possible::No(why) => why,
        },
        other => format!("fleet.workspaces is \"{other}\""),
    };
    if asked == Workspaces::Copy {
        return (Workspaces::Copy, Some(why));
    }
    match layers::clones(home).await {
        Ok(()) => (Workspaces::Clone, Some(why)),
        Err(more) => (Workspaces::Copy, Some(format!("{why}; {more}"))),
    }
}

fn most_bytes(home: &Home) -> u64 {
    u64::from(home.fleet.housekeeping.layers_mb) << 20
}

/// Remove layers that no workspace stands on; a setup that failed is tried again.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prune {
    /// All of them, and not only as many as are too many.
    #[serde(default)]
    pub all: bool,
}

impl Ask for Prune {
    const NAME: &'static str = "workspaces prune";
    const WHAT: &'static str = "Remove layers that no workspace stands on: those used longest ago, down to \
         housekeeping.layers_mb, or all; a setup that failed is tried again at once";
    const WHO: Who = Who::Operator;
    type Answer = Pruned;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forgotten = layers::forget_failures(home);
        let most = if self.all { 0 } else { most_bytes(home) };
        Ok(Pruned {
            forgotten,
            ..layers::prune(home, most).await
        })
    }
}
