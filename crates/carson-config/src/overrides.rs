//! Variables of the environment that override keys of `carson.toml`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use toml_edit::{Item, Value};

use crate::document::{join, parent};
use crate::finding::Finding;
use crate::keys::SETTINGS;
use crate::kind::Kind;
use crate::nearest::nearest;

/// Variables and their values, by dotted key.
#[derive(Debug, Default)]
pub(crate) struct Overrides(BTreeMap<String, (String, Value)>);

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
            let mut path = rest.to_lowercase().replace("__", ".");
            let file = PathBuf::from(format!("environment {name}"));
            let problem = match SETTINGS.setting(&path) {
                None => "there is no such key".to_owned(),
                Some(key) => {
                    let mut kind = &key.kind;
                    if let Kind::Renamed { to, kind: now } = kind {
                        let new = join(parent(&path), to);
                        findings.push(Finding::renamed(&file, None, &path, &new));
                        (path, kind) = (new, now);
                    }
                    let item = Item::Value(literal(kind, value));
                    match (kind.fits(&item), item) {
                        (Ok(()), Item::Value(value)) => {
                            overrides.0.insert(path, (name.to_owned(), value));
                            continue;
                        }
                        (problem, _) => problem.err().unwrap_or_default(),
                    }
                }
            };
            let hint = hint(&path);
            findings.push(Finding::new(&file, None, &path, problem).hint(hint));
        }
        overrides
    }

    /// The variable that says what a key is.
    pub(crate) fn variable(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(name, _)| name.as_str())
    }

    /// Each as a line of TOML.
    pub(crate) fn literals(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(key, (_, value))| {
            let key: Vec<String> = key.split('.').map(|part| format!("{part:?}")).collect();
            format!("{} = {value}", key.join("."))
        })
    }
}

/// What the variable may have been meant to be called.
fn hint(path: &str) -> String {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    let known = SETTINGS.names_in(section);
    match nearest(name, &known).filter(|near| *near != name) {
        Some(near) => {
            let meant = join(section, near).to_uppercase().replace('.', "__");
            format!("did you mean CARSON_{meant}?")
        }
        None => "CARSON_<SECTION>__<KEY> overrides a key of carson.toml".to_owned(),
    }
}

/// What a variable says: words as they stand, everything else as TOML writes it.
fn literal(kind: &Kind, text: &str) -> Value {
    let is_text = matches!(kind, Kind::Text | Kind::Form(_) | Kind::OneOf { .. });
    match text.trim().parse::<Value>() {
        Ok(value) if !is_text => value,
        _ => Value::from(text),
    }
}
