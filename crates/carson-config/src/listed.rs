//! The sections of what stands in a list, sinks and forges: each entry says its own, here they
//! become keys, values and findings like all others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carson_core::section::{Around, SectionKind};
use carson_forge::OPENERS;
use carson_notify::SINKS;
use figment::Figment;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::check::Check;
use crate::document::join;
use crate::paths::Paths;
use crate::secret::read_secret;

/// Sections by name, as they were written and with their defaults.
pub(crate) type Sections = BTreeMap<&'static str, Value>;

/// A section, whatever becomes of it.
struct Listed {
    name: &'static str,
    schema: fn() -> Value,
    filled: fn(Value) -> Result<Value, serde_json::Error>,
}

fn listed() -> Vec<Listed> {
    fn to_listed<C: ?Sized>(kind: &SectionKind<C>) -> Listed {
        let SectionKind {
            name,
            schema,
            filled,
            ..
        } = *kind;
        Listed {
            name,
            schema,
            filled,
        }
    }
    let forges = OPENERS.iter().filter_map(|opener| opener.section.as_ref());
    forges
        .map(to_listed)
        .chain(SINKS.iter().map(to_listed))
        .collect()
}

/// What was written of them, with their defaults. The keys and their kinds were checked before.
pub(crate) fn read(figment: &Figment) -> Sections {
    let mut sections = Sections::new();
    for one in listed() {
        let written = figment.find_value(one.name).ok();
        let section = written.and_then(|value| value.deserialize::<Value>().ok());
        let filled = section.and_then(|section| (one.filled)(section).ok());
        sections.extend(filled.map(|section| (one.name, section)));
    }
    sections
}

/// What becomes of an entry's section, if it was written. What firings cannot work without has to be there; of a
/// sink it is said only: its posts wait.
pub(crate) fn check<C: ?Sized>(
    kind: &SectionKind<C>,
    sections: &Sections,
    (paths, is_needed): (&Paths<'_>, bool),
    check: &mut Check<'_>,
) -> Option<Arc<C>> {
    let name = kind.name;
    let mut around = Section {
        name,
        paths,
        is_needed,
        check,
    };
    (kind.check)(sections.get(name)?.clone(), &mut around)
}

/// One section, with what its entry asks about it.
struct Section<'s, 'p, 'c> {
    name: &'static str,
    paths: &'s Paths<'p>,
    is_needed: bool,
    check: &'s mut Check<'c>,
}

impl Section<'_, '_, '_> {
    fn key(&self, key: &str) -> String {
        match key {
            "" => self.name.to_owned(),
            key => join(self.name, key),
        }
    }
}

impl Around for Section<'_, '_, '_> {
    fn path(&self, text: &str) -> PathBuf {
        self.paths.expand(text)
    }

    fn problem(&mut self, key: &str, problem: &str, hint: &str) {
        self.check.problem(&self.key(key), problem, hint);
    }

    fn warning(&mut self, key: &str, warning: &str, hint: &str) {
        self.check.warning(&self.key(key), warning, hint);
    }

    fn secret(&mut self, key: &str, file: &Path) -> Option<SecretString> {
        match self.is_needed {
            true => self.check.secret(&self.key(key), file),
            false => self.check.secret_aside(&self.key(key), file),
        }
        read_secret(file).ok()
    }
}

/// Adds the sections to the schema of `carson.toml`.
pub(crate) fn into_schema(settings: &mut Value) {
    for one in listed() {
        let mut section = (one.schema)();
        let title = section["title"].as_str().unwrap_or(one.name).to_owned();
        if let Some(section) = section.as_object_mut() {
            section.remove("$schema");
            section.remove("title");
            let own = section.remove("$defs");
            for (name, definition) in own.iter().flat_map(Value::as_object).flatten() {
                settings["$defs"][name] = definition.clone();
            }
        }
        settings["$defs"][&title] = section;
        let definition = format!("#/$defs/{title}");
        settings["properties"][one.name] =
            json!({"anyOf": [{"$ref": definition}, {"type": "null"}], "default": null});
    }
}
