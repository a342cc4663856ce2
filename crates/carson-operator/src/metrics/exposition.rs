//! All metrics at one moment, and the text format that Prometheus reads, version 0.0.4.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

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

impl Exposition {
    /// What a scrape's answer calls its text.
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// The metrics as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.metrics.iter().map(family).collect()
    }
}

fn family(family: &Family) -> String {
    let (name, kind) = (family.name, family.kind.as_str());
    let help = escaped(family.help, false);
    let mut text = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
    for sample in &family.samples {
        text.push_str(&line(name, sample));
    }
    text
}

fn line(name: &str, sample: &Sample) -> String {
    let labels = sample.labels.iter();
    let labels: Vec<String> = labels
        .map(|(label, value)| format!("{label}=\"{}\"", escaped(value, true)))
        .collect();
    let labels = match labels.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", labels.join(",")),
    };
    format!("{name}{}{labels} {}\n", sample.suffix, sample.value)
}

/// A help line has no quotes around it, so in one of these they stand for themselves.
fn escaped(text: &str, quoted: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    match quoted {
        true => text.replace('"', "\\\""),
        false => text,
    }
}

impl Kind {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}
