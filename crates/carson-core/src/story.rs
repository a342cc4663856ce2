//! A story of a plan as a piece of work: its name, and what is measured of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::counted;

/// Letters of the longest name.
const LONGEST: usize = 64;
/// Files that are told one by one.
const TOLD: usize = 5;

/// The name of a story within its plan: letters and digits, with `-`, `_` or `.` between. It stands in keys and
/// branches, so nothing else is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoryId {
    bytes: [u8; LONGEST],
    length: usize,
}

impl StoryId {
    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // It was made of a text of plain letters.
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl FromStr for StoryId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|letter| letter.is_ascii_alphanumeric())
        };
        if text.len() > LONGEST || !text.split(['-', '_', '.']).all(is_part) {
            return Err(format!(
                "{text:?} is no name of a story: up to {LONGEST} letters and digits, with `-`, `_` or `.` between"
            ));
        }
        let mut bytes = [0; LONGEST];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self {
            bytes,
            length: text.len(),
        })
    }
}

impl fmt::Display for StoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for StoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// What a firing worked on as a story, and what of that its work kept to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryFact {
    /// The plan's file.
    pub file: String,
    /// The SHA-256 of what the story alone says: firings of the same text are attempts at the same story.
    pub text_hash: String,
    /// The SHA-256 of what its sessions were told of it, with the plan's policy.
    pub prompt_hash: String,
    /// What its work changes and may not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Files that it was to make, and did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl StoryFact {
    /// Why it is not done, whatever its sessions say.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        if !self.outside.is_empty() {
            return Some(format!("OUT_OF_SCOPE: {}", some_of(&self.outside)));
        }
        let count = u64::try_from(self.missing.len()).unwrap_or(u64::MAX);
        (count > 0).then(|| {
            format!(
                "MISSING: it was to make {} and did not: {}",
                counted(count, "file"),
                some_of(&self.missing)
            )
        })
    }
}

fn some_of(all: &[String]) -> String {
    let told = all
        .iter()
        .take(TOLD)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    match all.len().saturating_sub(TOLD) {
        0 => told,
        more => format!("{told}; {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_branch_may_be_called() {
        let longest = "a".repeat(LONGEST);
        for name in ["1", "S-1", "a.b_c-D", longest.as_str()] {
            assert_eq!(name.parse::<StoryId>().unwrap().as_str(), name);
        }
        let longer = "a".repeat(LONGEST + 1);
        for name in ["", "-1", "S-", "S--1", "../x", "a b", "ä", longer.as_str()] {
            assert!(name.parse::<StoryId>().is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_outside_is_said_before_what_is_missing() {
        let mut fact = StoryFact {
            file: "prd.json".into(),
            text_hash: String::new(),
            prompt_hash: String::new(),
            outside: Vec::new(),
            missing: Vec::new(),
        };
        assert_eq!(fact.failed(), None);
        fact.missing = vec!["audit/a.md".into()];
        let said = "MISSING: it was to make 1 file and did not: audit/a.md";
        assert_eq!(fact.failed().as_deref(), Some(said));
        fact.outside = (0..7).map(|at| format!("f{at}")).collect();
        let said = "OUT_OF_SCOPE: f0; f1; f2; f3; f4; 2 more";
        assert_eq!(fact.failed().as_deref(), Some(said));
    }
}
