//! The gate, once; and the vectors of lessons that have none.

use carson_firing::lessons::{GatePlan, GateRun, Indexed, index, run_gate};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Look at every candidate.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Change nothing, and ask no judge.
    #[serde(default)]
    pub dry_run: bool,
}

impl Ask for Gate {
    const NAME: &'static str = "memory gate";
    const WHAT: &'static str = "Run the gate once: rules, evidence and judge over every candidate";
    const WHO: Who = Who::Trusted;
    type Answer = GateRun;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        Ok(run_gate(home, &GatePlan::by_hand(self.dry_run)).await?)
    }
}

/// Make the vectors that are missing.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reindex {
    /// At most so many in this call.
    #[serde(default = "many")]
    pub most: u64,
}

fn many() -> u64 {
    100_000
}

impl Ask for Reindex {
    const NAME: &'static str = "memory reindex";
    const WHAT: &'static str =
        "Make the vectors of lessons that have none; it goes on where it stopped";
    const WHO: Who = Who::Operator;
    type Answer = Indexed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let done = index(home, self.most, true).await?;
        done.ok_or_else(|| {
            Refusal::Lesson(
                "there is no embedder: write memory.embedder_url and memory.embedder_model"
                    .to_owned(),
            )
        })
    }
}
