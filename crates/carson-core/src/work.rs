//! One piece of work that a firing takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a firing works on. The text in it comes from outside: it is data, never an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Which piece; unique within a repository.
    pub key: WorkKey,
    /// Title, as its author wrote it.
    pub title: String,
    /// Body, as its author wrote it.
    pub body: String,
    /// Where a person finds it: an address or a file.
    pub url: String,
    /// How many firings took it before this one.
    pub attempts: u32,
}

/// Names a piece of work within its repository: `issue-12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum WorkKey {
    /// An issue by its number.
    Issue(u64),
}

impl WorkKey {
    /// The issue's number.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Issue(number) => number,
        }
    }
}

impl fmt::Display for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(number) => f.pad(&format!("issue-{number}")),
        }
    }
}

impl FromStr for WorkKey {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.strip_prefix("issue-")
            .and_then(|number| number.parse().ok())
            .map(Self::Issue)
            .ok_or_else(|| format!("{text:?} does not name a piece of work (issue-N)"))
    }
}

impl TryFrom<String> for WorkKey {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<WorkKey> for String {
    fn from(key: WorkKey) -> String {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back() {
        let key = WorkKey::Issue(12);
        assert_eq!(key.to_string(), "issue-12");
        assert_eq!("issue-12".parse(), Ok(key));
        assert!("issue-x".parse::<WorkKey>().is_err());
        assert!("12".parse::<WorkKey>().is_err());
    }
}
