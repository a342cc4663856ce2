//! Variables of the environment that override keys of `carson.toml`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use toml_edit::{Item, Value};

use crate::finding::Finding;
use crate::keys::{self, Kind};

/// Values by dotted key.
#[derive(Debug, Default)]
pub(crate) struct Overrides(BTreeMap<String, Value>);

impl Overrides {
    /// `CARSON_FLEET__MAX_FIRINGS=3` is `fleet.max_firings`. Names without `__` are not settings.
    pub(crate) fn read(env: &[(OsString, OsString)], findings: &mut Vec<Finding>) -> Self {
        let mut overrides = Self::default();
        for (name, value) in env {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
                continue;
            };
            let rest = name.strip_prefix("CARSON_");
            let Some(rest) = rest.filter(|rest| rest.contains("__")) else {
                continue;
            };
            let path = rest.to_lowercase().replace("__", ".");
            let file = PathBuf::from(format!("environment {name}"));
            let problem = match keys::setting(&path) {
                None => "there is no such key".to_owned(),
                Some(kind) => {
                    let item = Item::Value(literal(kind, value));
                    match (keys::fits(kind, &item), item) {
                        (Ok(()), Item::Value(value)) => {
                            overrides.0.insert(path, value);
                            continue;
                        }
                        (problem, _) => problem.err().unwrap_or_default(),
                    }
                }
            };
            let finding = Finding::new(&file, None, &path, problem);
            findings.push(finding.hint("CARSON_<SECTION>__<KEY> overrides a key of carson.toml"));
        }
        overrides
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Each as a line of TOML.
    pub(crate) fn literals(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(key, value)| {
            let key: Vec<String> = key.split('.').map(|part| format!("{part:?}")).collect();
            format!("{} = {value}", key.join("."))
        })
    }
}

/// What a variable says: words as they stand, everything else as TOML writes it.
fn literal(kind: Kind, text: &str) -> Value {
    let is_text = matches!(
        kind,
        Kind::Text | Kind::Zone | Kind::Span | Kind::SomeTime | Kind::OneOf(_)
    );
    match text.trim().parse::<Value>() {
        Ok(value) if !is_text => value,
        _ => Value::from(text),
    }
}
