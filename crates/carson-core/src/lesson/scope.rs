//! Where a lesson holds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::id::{NameError, RepoName, RoleName};

/// Longest glob of a scope, in bytes.
const GLOB_MAX: usize = 200;

/// Where a lesson holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Everywhere.
    Fleet,
    /// In a repository.
    Repo(RepoName),
    /// For files of this pattern.
    Path(String),
    /// For sessions of a role.
    Role(RoleName),
}

/// What is no scope.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ScopeError {
    /// It has none of the forms.
    #[error("{0:?} is no scope: fleet, repo:NAME, path:GLOB or role:NAME")]
    Form(String),
    /// The name in it cannot be one.
    #[error("the scope {0:?} has no usable name: {1}")]
    Name(String, NameError),
    /// The pattern in it cannot be one.
    #[error("the scope {given:?} has no usable pattern: {why}")]
    Glob {
        /// The scope.
        given: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Scope {
    /// How wide it is: the narrower, the higher.
    #[must_use]
    pub fn narrowness(&self) -> u8 {
        match self {
            Self::Fleet => 0,
            Self::Role(_) => 1,
            Self::Repo(_) => 2,
            Self::Path(_) => 3,
        }
    }

    /// `fleet`, `repo`, `path` or `role`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fleet => "fleet",
            Self::Repo(_) => "repo",
            Self::Path(_) => "path",
            Self::Role(_) => "role",
        }
    }

    /// The repository that it names.
    #[must_use]
    pub fn repo(&self) -> Option<&RepoName> {
        match self {
            Self::Repo(repo) => Some(repo),
            _ => None,
        }
    }
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(given: &str) -> Result<Self, ScopeError> {
        let short = || given.chars().take(80).collect::<String>();
        if given == "fleet" {
            return Ok(Self::Fleet);
        }
        match given.split_once(':') {
            Some(("repo", name)) => {
                let name = name.parse().map_err(|why| ScopeError::Name(short(), why))?;
                Ok(Self::Repo(name))
            }
            Some(("role", name)) => {
                let name = name.parse().map_err(|why| ScopeError::Name(short(), why))?;
                Ok(Self::Role(name))
            }
            Some(("path", glob)) => match wrong_with(glob) {
                None => Ok(Self::Path(glob.to_owned())),
                Some(why) => Err(ScopeError::Glob {
                    given: short(),
                    why,
                }),
            },
            _ => Err(ScopeError::Form(short())),
        }
    }
}

/// Whether it can be a pattern of paths within a repository.
fn wrong_with(glob: &str) -> Option<&'static str> {
    if glob.is_empty() {
        return Some("it is empty");
    }
    if glob.len() > GLOB_MAX {
        return Some("it is longer than 200 bytes");
    }
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Some("it leads out of the repository");
    }
    if glob.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Some("it has blanks or control characters");
    }
    None
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fleet => f.pad("fleet"),
            Self::Repo(name) => f.pad(&format!("repo:{name}")),
            Self::Path(glob) => f.pad(&format!("path:{glob}")),
            Self::Role(name) => f.pad(&format!("role:{name}")),
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = ScopeError;
    fn try_from(given: String) -> Result<Self, ScopeError> {
        given.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back() {
        for text in [
            "fleet",
            "repo:widget",
            "path:src/**/*.rs",
            "role:implementer",
        ] {
            assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_scope_is_told() {
        for text in [
            "",
            "all",
            "Fleet",
            "fleet:",
            "repo:",
            "repo:A B",
            "path:",
            "path:/etc/*",
            "path:../x",
            "path:a b",
            "path:a/../../b",
            "role:",
            "host:x",
        ] {
            assert!(text.parse::<Scope>().is_err(), "{text:?}");
        }
    }
}
