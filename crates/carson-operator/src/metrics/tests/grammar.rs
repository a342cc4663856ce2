//! The text format of Prometheus, read as strictly as it is defined, and its conventions with it.

use std::collections::{BTreeMap, BTreeSet};

pub(super) type Labels = Vec<(String, String)>;

/// A text that was read: no line of it broke a rule.
pub(super) struct Scrape {
    pub text: String,
    pub series: BTreeMap<(String, Labels), f64>,
    kinds: BTreeMap<String, String>,
}

impl Scrape {
    /// Panics at the first line that is not as it must be.
    pub(super) fn read(text: &str) -> Self {
        assert!(text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'));
        let mut scrape = Self {
            text: text.to_owned(),
            series: BTreeMap::new(),
            kinds: BTreeMap::new(),
        };
        let (mut family, mut helped) = (String::new(), BTreeSet::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(is_name(name) && !help.is_empty(), "{line}");
                assert!(helped.insert(name.to_owned()), "{line}: twice");
                family = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, family, "{line}: TYPE follows HELP");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
                let twice = scrape.kinds.insert(name.to_owned(), kind.to_owned());
                assert_eq!(twice, None, "{line}");
            } else {
                scrape.sample(line, &family);
            }
        }
        scrape.histograms_add_up();
        scrape
    }

    fn sample(&mut self, line: &str, family: &str) {
        let kind = &self.kinds[family];
        let (name, labels, value) = taken_apart(line);
        let suffix = name.strip_prefix(family).unwrap_or("?");
        match kind.as_str() {
            "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}"),
            _ => assert_eq!(suffix, "", "{line}: not of {family}"),
        }
        let bound = labels.iter().any(|(label, _)| label == "le");
        assert_eq!(bound, suffix == "_bucket", "{line}");
        assert!(value.is_finite(), "{line}");
        assert!(kind != "counter" || value >= 0.0, "{line}");
        let twice = self.series.insert((name, labels), value);
        assert_eq!(twice, None, "{line}: twice");
    }

    fn histograms_add_up(&self) {
        for ((name, labels), count) in &self.series {
            let Some(family) = name.strip_suffix("_count") else {
                continue;
            };
            let buckets = self.series.iter().filter_map(|((name, own), value)| {
                let bound = own.iter().find(|(label, _)| label == "le")?;
                let rest: Labels = own.iter().filter(|one| *one != bound).cloned().collect();
                let is_it = *name == format!("{family}_bucket") && rest == *labels;
                let bound = bound.1.replace("+Inf", "inf");
                is_it.then(|| (bound.parse::<f64>().unwrap(), *value))
            });
            let mut buckets: Vec<(f64, f64)> = buckets.collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(buckets.is_sorted_by(|a, b| a.1 <= b.1), "{name} {labels:?}");
            assert_eq!(buckets.last(), Some(&(f64::INFINITY, *count)), "{name}");
            let sum = (format!("{family}_sum"), labels.clone());
            assert!(self.series.contains_key(&sum), "{name} has no sum");
        }
    }

    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter();
        let labels = labels.map(|(label, value)| ((*label).to_owned(), (*value).to_owned()));
        let key = (name.to_owned(), labels.collect());
        self.series.get(&key).copied()
    }

    /// What may only grow: counters, and the parts of histograms.
    pub(super) fn counters(&self) -> BTreeMap<(String, Labels), f64> {
        let grows = |name: &str| self.kinds.get(name).is_none_or(|kind| kind == "counter");
        let series = self.series.iter();
        let counters = series.filter(|((name, _), _)| grows(name));
        counters.map(|(key, value)| (key.clone(), *value)).collect()
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    bytes.next().is_some_and(begins) && bytes.all(|byte| begins(byte) || byte.is_ascii_digit())
}

/// `name{label="value",…} number`
fn taken_apart(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Labels::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let (value, after) = quoted(after);
            labels.push((label.to_owned(), value));
            match after.split_at(1) {
                (",", more) => rest = more,
                ("}", more) => {
                    rest = more;
                    break;
                }
                _ => panic!("{line}"),
            }
        }
    }
    assert!(labels.is_sorted_by(|a, b| a.0 < b.0), "{line}");
    let number = rest.strip_prefix(' ').unwrap();
    (name.to_owned(), labels, number.parse().unwrap())
}

/// A value up to its closing quote, and what follows.
fn quoted(text: &str) -> (String, &str) {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match chars.next().unwrap().1 {
                'n' => '\n',
                char @ ('\\' | '"') => char,
                other => panic!("\\{other} stands for nothing"),
            }),
            char => value.push(char),
        }
    }
    panic!("the value does not end: {text}")
}
