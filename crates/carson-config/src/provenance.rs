//! Where each value came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::document::Document;
use crate::document::join;
use crate::overrides::Overrides;
use crate::raw::Settings;
use crate::read::ReadRole;

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

/// Every key of the settings and of the roles with its value and origin. Secrets are not shown: neither variables
/// that sound like one, nor a password in an address.
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
        flatten(&settings.with_sections(), "", &mut values);
        let written = Written::of(file, document);
        let with_origin = |(key, value): (String, Value)| {
            let origin = match overrides.variable(&key) {
                Some(name) => Origin::Environment(name.to_owned()),
                None => written.origin(&key),
            };
            let value = shown(&key, value);
            (key, (value, origin))
        };
        Self(values.into_iter().map(with_origin).collect())
    }

    /// Adds the keys of a role, as `roles.NAME.KEY`.
    pub(crate) fn add_role(&mut self, role: &ReadRole) {
        let mut values = BTreeMap::new();
        let value = serde_json::to_value(&role.raw).unwrap_or_default();
        flatten(&value, "", &mut values);
        let written = Written::of(&role.file, &role.document);
        let name = join("roles", role.name.as_str());
        for (key, value) in values {
            let origin = written.origin(&key);
            let key = join(&name, &key);
            let value = shown(&key, value);
            self.0.insert(key, (value, origin));
        }
    }
}

/// The keys that stand in a file.
struct Written<'d> {
    file: &'d Path,
    document: &'d Document,
    leaves: Vec<String>,
}

impl<'d> Written<'d> {
    fn of(file: &'d Path, document: &'d Document) -> Self {
        let leaves = document.leaves();
        Self {
            file,
            document,
            leaves,
        }
    }

    fn origin(&self, key: &str) -> Origin {
        let mut leaves = self.leaves.iter();
        let leaf = leaves.find(|leaf| *leaf == key || key.starts_with(&format!("{leaf}.")));
        match leaf.and_then(|leaf| self.document.line(leaf)) {
            Some(line) => Origin::File(self.file.to_owned(), line),
            None => Origin::Default,
        }
    }
}

/// A value as it may be printed.
fn shown(key: &str, value: Value) -> Value {
    let name = key.rsplit('.').next().unwrap_or_default().to_uppercase();
    let secret = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
    if key.contains(".env.") && secret.iter().any(|word| name.contains(word)) {
        return "[given]".into();
    }
    match value.as_str().and_then(without_password) {
        Some(address) => address.into(),
        None => value,
    }
}

/// `scheme://user:password@rest` without its password; `None` for anything else.
fn without_password(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next()?;
    let at = host.rfind('@')?;
    let (user, _) = host[..at].split_once(':')?;
    Some(format!("{scheme}://{user}:***{}", &rest[at..]))
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
