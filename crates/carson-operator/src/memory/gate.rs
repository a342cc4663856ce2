//! The gate, once; and the vectors of lessons that have none.

use carson_firing::lessons::{GateRun, embedder, run_gate};
use carson_home::Home;
use carson_memory::vectors::reindex;
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
        Ok(run_gate(home, self.dry_run).await?)
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

/// How far it came.
#[derive(Debug, Serialize)]
pub struct Indexed {
    /// Vectors that were made.
    pub made: u64,
    /// Lessons that are or were believed.
    pub lessons: u64,
    /// Those of them that have a vector now.
    pub indexed: u64,
    /// Why it stopped before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl Ask for Reindex {
    const NAME: &'static str = "memory reindex";
    const WHAT: &'static str =
        "Make the vectors of lessons that have none; it goes on where it stopped";
    const WHO: Who = Who::Operator;
    type Answer = Indexed;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let Some(embedder) = embedder(home) else {
            return Err(Refusal::Lesson(
                "there is no embedder: write memory.embedder_url and memory.embedder_model"
                    .to_owned(),
            ));
        };
        // Nobody waits for it as a firing does.
        let embedder = embedder.patient(std::time::Duration::from_secs(60));
        let done = reindex(&home.store, &embedder, self.most).await?;
        let (lessons, indexed) = home.store.vector_coverage(embedder.model()).await?;
        let stopped = done
            .stopped
            .map(|error| home.redactor.redact(&error.to_string()).into_owned());
        Ok(Indexed {
            made: done.made,
            lessons,
            indexed,
            stopped,
        })
    }
}
