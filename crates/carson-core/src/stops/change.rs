//! What would change something, as data: a terminal prints it, a page makes buttons of it.

use std::fmt;

use serde::Serialize;

use crate::id::RoleName;

/// Words, commands and settings, in the order in which a person reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Change(Vec<Part>);

/// A piece of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Words between the others.
    Text(String),
    /// A command of Carson's: what is typed after `carson`.
    Command(String),
    /// A setting to write.
    Setting {
        /// Its key.
        key: String,
        /// Its value, where there is only one.
        value: Option<String>,
        /// Where it is written.
        file: SettingsFile,
    },
}

/// A file of settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsFile {
    /// `carson.toml`.
    Fleet,
    /// The `role.toml` of a role.
    Role(RoleName),
}

impl fmt::Display for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fleet => f.write_str("carson.toml"),
            Self::Role(role) => write!(f, "roles/{role}/role.toml"),
        }
    }
}

impl Change {
    /// Its parts, to be shown one after the other.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Then these words.
    #[must_use]
    pub fn text(self, words: &str) -> Self {
        self.then(Part::Text(words.to_owned()))
    }

    /// Then this command, without `carson`.
    #[must_use]
    pub fn command(self, typed: impl Into<String>) -> Self {
        self.then(Part::Command(typed.into()))
    }

    /// Then this key of `file`.
    #[must_use]
    pub fn key(self, key: &str, file: SettingsFile) -> Self {
        self.then(Part::Setting {
            key: key.to_owned(),
            value: None,
            file,
        })
    }

    /// Then this key of `file`, with the value that it would have.
    #[must_use]
    pub fn set(self, key: &str, value: &str, file: SettingsFile) -> Self {
        self.then(Part::Setting {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            file,
        })
    }

    fn then(mut self, part: Part) -> Self {
        self.0.push(part);
        self
    }
}
