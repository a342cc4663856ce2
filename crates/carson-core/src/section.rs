//! What an entry of a list (a sink, a forge) says to the settings: its section of carson.toml, and
//! what becomes of it. The settings know lines, homes and secrets; the entry knows its own keys.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A section as an operator writes it: a type with a default for every key. Its schema is the table
/// of its keys: `x-planned` lists those that are planned, and do nothing yet.
pub trait Section: Default + Serialize + DeserializeOwned + JsonSchema {
    /// The section's name, and the entry's.
    const NAME: &'static str;
    /// What becomes of it.
    type Checked: ?Sized;

    /// Holds it against what lies around it; `None` when there is a problem.
    fn check(self, around: &mut dyn Around) -> Option<Arc<Self::Checked>>;
}

/// What a section is checked with.
pub trait Around {
    /// Where a path leads that an operator wrote.
    fn path(&self, text: &str) -> PathBuf;
    /// Something that does not hold. An empty key is the section itself.
    fn problem(&mut self, key: &str, problem: &str, hint: &str);
    /// Something that is allowed, and that an operator should see.
    fn warning(&mut self, key: &str, warning: &str, hint: &str);
    /// What a secret file holds. When it cannot be had, that is a problem of this key where firings need it, and
    /// else a warning.
    fn secret(&mut self, key: &str, file: &Path) -> Option<SecretString>;
}

/// A section without its type: its part of an entry's line in the list.
pub struct SectionKind<C: ?Sized> {
    /// The section's name, and the entry's.
    pub name: &'static str,
    /// The JSON schema of the section; its title is the type's name.
    pub schema: fn() -> Value,
    /// The section with its defaults where nothing was written.
    pub filled: fn(Value) -> Result<Value, serde_json::Error>,
    /// [`Section::check`].
    pub check: fn(Value, &mut dyn Around) -> Option<Arc<C>>,
}

impl<C: ?Sized> SectionKind<C> {
    /// Of this type.
    #[must_use]
    pub const fn of<S: Section<Checked = C>>() -> Self {
        Self {
            name: S::NAME,
            schema: || schemars::schema_for!(S).to_value(),
            filled: |section| serde_json::to_value(serde_json::from_value::<S>(section)?),
            check: |section, around| match serde_json::from_value::<S>(section) {
                Ok(section) => section.check(around),
                Err(error) => {
                    around.problem("", &error.to_string(), "");
                    None
                }
            },
        }
    }
}

impl<C: ?Sized> Clone for SectionKind<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for SectionKind<C> {}

impl<C: ?Sized> fmt::Debug for SectionKind<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SectionKind").field(&self.name).finish()
    }
}
