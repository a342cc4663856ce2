//! A commit's or tree's name.

use std::fmt;
use std::str::FromStr;

/// Forty hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Oid(String);

impl Oid {
    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Oid {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let whole = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if whole {
            Ok(Self(text.to_owned()))
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
