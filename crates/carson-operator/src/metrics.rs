//! The fleet as numbers.
//!
//! Each metric is one line of [`METRICS`]: its name, what it means, its labels, and how it is read off the
//! [`Facts`] that were gathered. Counters are counted over all rows there ever were, so they only grow, also over
//! restarts. Labels are bounded: a name is a role, an account or a sink of the settings, or `other`; nothing that
//! an issue, a model or a forge wrote is in any.

mod exposition;
mod facts;
mod list;

use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

pub use exposition::{Exposition, Family, Kind, Sample};
use facts::Facts;
pub use list::{METRICS, Metric};

/// How is the fleet, in numbers?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Count only firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day; all without it.
    pub since: Option<String>,
}

impl Ask for Metrics {
    const NAME: &'static str = "metrics";
    const WHAT: &'static str = "Show the fleet as numbers, for Prometheus";
    const WHO: Who = Who::Anyone;
    type Answer = Exposition;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let since = since(home, self.since.as_deref())?;
        let facts = Facts::of(home, since).await?;
        let metrics = METRICS.iter().map(|metric| Family {
            name: metric.name,
            kind: metric.kind,
            help: metric.what,
            samples: (metric.of)(&facts),
        });
        Ok(Exposition {
            now: facts.seen.now,
            since,
            metrics: metrics.collect(),
        })
    }
}

#[cfg(test)]
mod tests;
