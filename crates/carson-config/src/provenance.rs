//! Where each value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::document::Document;
use crate::keys::join;
use crate::overrides::Overrides;
use crate::raw::Settings;

/// A value's origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Nobody wrote it.
    Default,
    /// A file and its line.
    File(PathBuf, usize),
    /// A variable of the environment.
    Environment(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// Every key of the settings with its value and origin. Secrets are not among them: the settings
/// only name the files that hold them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Provenance(pub BTreeMap<String, (Value, Origin)>);

impl Provenance {
    pub(crate) fn of(
        file: &Path,
        document: &Document,
        overrides: &Overrides,
        settings: &Settings,
    ) -> Self {
        let mut values = BTreeMap::new();
        flatten(
            &serde_json::to_value(settings).unwrap_or_default(),
            "",
            &mut values,
        );
        let written = document.leaves();
        let origin = |key: &String| {
            if overrides.has(key) {
                let name = key.to_uppercase().replace('.', "__");
                return Origin::Environment(format!("CARSON_{name}"));
            }
            let leaf = written
                .iter()
                .find(|leaf| *leaf == key || key.starts_with(&format!("{leaf}.")));
            match leaf.and_then(|leaf| document.line(leaf)) {
                Some(line) => Origin::File(file.to_owned(), line),
                None => Origin::Default,
            }
        };
        let with_origin = |(key, value)| {
            let origin = origin(&key);
            (key, (value, origin))
        };
        Self(values.into_iter().map(with_origin).collect())
    }
}

fn flatten(value: &Value, path: &str, values: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                flatten(value, &join(path, name), values);
            }
        }
        Value::Null => {}
        leaf => {
            values.insert(path.to_owned(), leaf.clone());
        }
    }
}
