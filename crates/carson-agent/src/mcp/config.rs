//! The file of `--mcp`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use carson_proc::find_on_path;
use serde::Deserialize;
use thiserror::Error;

/// Which servers there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// By their names.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Its program and arguments.
    pub command: Vec<String>,
    /// Which of its tools the model gets.
    pub tools: Vec<String>,
    /// Whether there is no run without it and all of these.
    #[serde(default = "yes")]
    pub required: bool,
    /// How many seconds a call may take.
    #[serde(default = "two")]
    pub timeout: u64,
}

fn yes() -> bool {
    true
}

fn two() -> u64 {
    2
}

/// A file that says nothing of servers.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{path:?}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not what it should be.
    #[error(
        "{path:?}: {source}; it is {{\"servers\": {{\"NAME\": {{\"command\": […], \"tools\": […]}}}}}}"
    )]
    Json {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A server that could do nothing.
    #[error("{path:?}: {name}: {what}")]
    Idle {
        /// Which.
        path: PathBuf,
        /// The server's name.
        name: String,
        /// What it lacks.
        what: &'static str,
    },
    /// A name that cannot be a part of a tool's.
    #[error("{path:?}: {name:?} is no name: 1 to 20 of a-z, 0-9, - and _")]
    Name {
        /// Which.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

impl Config {
    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let at = || path.to_owned();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Io { path: at(), source })?;
        let config: Self = serde_json::from_str(&text)
            .map_err(|source| ConfigError::Json { path: at(), source })?;
        for (name, server) in &config.servers {
            if let Some(what) = server.lacks() {
                return Err(ConfigError::Idle {
                    path: at(),
                    name: name.clone(),
                    what,
                });
            }
        }
        match config.servers.keys().find(|name| !is_name(name)) {
            Some(name) => Err(ConfigError::Name {
                path: at(),
                name: name.clone(),
            }),
            None => Ok(config),
        }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    (1..=20).contains(&name.len()) && name.chars().all(plain) && !name.contains("__")
}

impl ServerConfig {
    /// What it cannot do without.
    fn lacks(&self) -> Option<&'static str> {
        if self.named().is_empty() {
            Some("\"command\" names no program")
        } else if self.tools.is_empty() {
            Some("\"tools\" names none: a server is started for the tools that the model gets")
        } else if self.timeout == 0 {
            Some("a call cannot have a \"timeout\" of 0 seconds")
        } else {
            None
        }
    }

    /// Its program as it is named.
    #[must_use]
    pub fn named(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }

    /// Its program; `None` when it is not there.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH");
        find_on_path(Path::new(self.named()), path.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_exactly_what_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = dir.path().join("mcp.json");
            std::fs::write(&path, text).unwrap();
            Config::read(&path)
        };
        let config = read(r#"{"servers":{"docs":{"command":["x","-y"],"tools":["search"]}}}"#);
        assert_eq!(config.unwrap().servers["docs"].tools, ["search"]);
        for wrong in [
            "{}",
            r#"{"servers":{"docs":{"command":["x"]}}}"#,
            r#"{"servers":{"docs":{"command":["x"],"tools":[],"env":{"KEY":"v"}}}}"#,
            r#"{"servers":{"docs":{"command":[],"tools":["x"]}}}"#,
            r#"{"servers":{"docs":{"command":["x"],"tools":[]}}}"#,
            r#"{"servers":{"docs":{"command":["x"],"tools":["x"],"timeout":0}}}"#,
            r#"{"servers":{"a b":{"command":["x"],"tools":[]}}}"#,
            r#"{"servers":{"a__b":{"command":["x"],"tools":[]}}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
