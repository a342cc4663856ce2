//! The fleet as numbers.
//!
//! Each metric is one line of [`METRICS`]: its name, what it means, its labels, and how it is read off the
//! [`Facts`] that were gathered. Counters are counted over all rows there ever were, so they only grow, also over
//! restarts. Labels are bounded: a name is a role, an account or a sink of the settings, or `other`; nothing that
//! an issue, a model or a forge wrote is in any.

mod facts;
mod list;
mod text;

use std::collections::BTreeMap;

use carson_home::Home;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

use facts::Facts;
pub use list::METRICS;

/// How is the fleet, in numbers?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Count only firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day; all without it.
    pub since: Option<String>,
}

/// A metric: what a name means.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// What it says, in one line.
    pub what: &'static str,
    /// Its labels; a histogram has `le` beside these.
    pub labels: &'static [&'static str],
    of: fn(&Facts) -> Vec<Sample>,
}

/// What kind of number a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It is as it is at this moment.
    Gauge,
    /// Counts of what is no longer than each bound.
    Histogram,
}

/// All metrics at one moment.
#[derive(Debug, Serialize)]
pub struct Exposition {
    /// When they were read.
    pub now: DateTime<Utc>,
    /// Since when firings are counted; all without it.
    pub since: Option<DateTime<Utc>>,
    /// The metrics, in the order of the list.
    pub metrics: Vec<Family>,
}

/// The numbers of one metric.
#[derive(Debug, Serialize)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: Kind,
    /// What it says.
    pub help: &'static str,
    /// One for each set of labels.
    pub samples: Vec<Sample>,
}

/// One number.
#[derive(Debug, Serialize)]
pub struct Sample {
    /// What follows the name: `_bucket`, `_sum`, `_count`, or nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub suffix: &'static str,
    /// What it is about.
    pub labels: BTreeMap<&'static str, String>,
    /// The number.
    pub value: f64,
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
