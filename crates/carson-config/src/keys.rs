//! Every key that an operator can write, and what its value must be: read off the JSON schema,
//! which is made of the types in `raw.rs`, `role_file.rs`, and of the sinks' and the forges'.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::document::join;
use crate::kind::{Kind, texts};
use crate::schema;

/// Of `carson.toml`.
pub(crate) static SETTINGS: LazyLock<Keys> = LazyLock::new(|| Keys::of(&schema::settings()));
/// Of `role.toml`.
pub(crate) static ROLE: LazyLock<Keys> = LazyLock::new(|| Keys::of(&schema::role()));

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its dotted path; `*` is a name that the operator chooses.
    pub pattern: String,
    pub kind: Kind,
}

/// The keys of one file.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Key>);

impl Keys {
    fn of(schema: &Json) -> Self {
        let mut keys = Vec::new();
        each(schema, schema, "", &mut |pattern, kind, _| {
            keys.push(Key { pattern, kind });
        });
        Self(keys)
    }

    /// The key below a section, which has this name or one that the operator chose.
    pub(crate) fn below(&self, section: &str, name: &str) -> Option<&Key> {
        let named = |name| {
            let pattern = join(section, name);
            self.0.iter().find(|key| key.pattern == pattern)
        };
        named(name).or_else(|| named("*"))
    }

    /// The key of a dotted path that holds a value.
    pub(crate) fn setting(&self, path: &str) -> Option<&Key> {
        let mut names = path.split('.');
        let first = self.below("", names.next()?)?;
        let key = names.try_fold(first, |key, name| self.below(&key.pattern, name))?;
        (!matches!(key.kind, Kind::Section)).then_some(key)
    }

    /// Names that a section knows and this version does something with.
    pub(crate) fn names_in(&self, section: &str) -> Vec<&str> {
        let built = self
            .0
            .iter()
            .filter(|key| !matches!(key.kind, Kind::Planned | Kind::Renamed { .. }));
        let names = built.filter_map(|key| match section {
            "" => Some(key.pattern.as_str()),
            section => key.pattern.strip_prefix(section)?.strip_prefix('.'),
        });
        names
            .filter(|name| !name.contains('.') && *name != "*")
            .collect()
    }

    /// A key of this name in any section that has a fixed name.
    pub(crate) fn elsewhere(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|key| {
            !matches!(
                key.kind,
                Kind::Section | Kind::Planned | Kind::Renamed { .. }
            ) && !key.pattern.contains('*')
                && key.pattern.rsplit('.').next() == Some(name)
        });
        found.map(|key| key.pattern.as_str())
    }
}

/// Shows every key of a schema: its pattern, its kind, and the schema of the place where it stands.
pub(crate) fn each(
    root: &Json,
    section: &Json,
    at: &str,
    show: &mut dyn FnMut(String, Kind, &Json),
) {
    for name in texts(&section["x-planned"]) {
        show(join(at, &name), Kind::Planned, &Json::Null);
    }
    for (name, property) in section["properties"].as_object().into_iter().flatten() {
        let path = join(at, name);
        let schema = meant(root, property);
        let members = meant(root, &schema["additionalProperties"]);
        if schema["properties"].is_object() {
            show(path.clone(), Kind::Section, property);
            each(root, schema, &path, show);
        } else if members["properties"].is_object() {
            let any = join(&path, "*");
            show(path, Kind::Section, property);
            show(any.clone(), Kind::Section, members);
            each(root, members, &any, show);
        } else {
            let kind = Kind::of(schema, meant(root, &schema["items"]));
            if let Some(old) = property["x-renamed-from"].as_str() {
                let (to, kind) = (name.clone(), Box::new(kind.clone()));
                show(join(at, old), Kind::Renamed { to, kind }, &Json::Null);
            }
            show(path, kind, property);
        }
    }
}

/// What a reference stands for, and what may be left out: `{"anyOf": [it, {"type": "null"}]}`.
fn meant<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    let one = schema["anyOf"].as_array().into_iter().flatten();
    let one = one.into_iter().find(|one| one["type"] != "null");
    let named = schema["$ref"].as_str();
    let named = named.and_then(|path| root.pointer(path.trim_start_matches('#')));
    one.or(named).map_or(schema, |schema| meant(root, schema))
}

#[cfg(test)]
mod tests;
