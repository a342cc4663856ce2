//! The text format that Prometheus reads, version 0.0.4.

use super::{Exposition, Family, Kind, Sample};

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
