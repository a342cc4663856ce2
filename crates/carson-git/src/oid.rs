//! A commit's or tree's name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Forty hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

impl Oid {
    /// What git writes for "no object".
    pub(crate) const NONE: &str = "0000000000000000000000000000000000000000";

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For libgit2. A name is checked when it is made, so this cannot miss.
    pub(crate) fn git2(&self) -> git2::Oid {
        git2::Oid::from_str(&self.0).unwrap_or(git2::Oid::ZERO_SHA1)
    }
}

impl From<git2::Oid> for Oid {
    fn from(oid: git2::Oid) -> Self {
        Self(oid.to_string())
    }
}

impl TryFrom<String> for Oid {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

impl FromStr for Oid {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let whole = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if whole {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(format!("{text:?} is not an object name"))
        }
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
