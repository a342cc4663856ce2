//! What a lesson rests on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest note and path, in bytes.
const TEXT_MAX: usize = 1_000;
/// Letters of a commit's name: at least what git writes by itself, at most SHA-256.
const COMMIT: std::ops::RangeInclusive<usize> = 7..=64;
/// The highest line that is believed.
const LINE_MAX: u32 = 10_000_000;

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Evidence {
    /// Lines of a file as a commit has them.
    File {
        /// The path in the repository.
        path: String,
        /// The commit.
        commit: String,
        /// Which lines; all of them without.
        lines: Option<Lines>,
    },
    /// A pull request.
    Pull(u64),
    /// An issue.
    Issue(u64),
    /// A firing: its id, or any part of it.
    Firing(String),
    /// What a person says.
    Note(String),
}

/// Lines of a file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// What is no evidence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{given:?} is no evidence ({why}): file:PATH@COMMIT:FIRST-LAST, pr:N, issue:N, firing:ID or note:TEXT"
)]
pub struct EvidenceError {
    given: String,
    why: &'static str,
}

impl Evidence {
    /// `file`, `pr`, `issue`, `firing` or `note`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::File { .. } => "file",
            Self::Pull(_) => "pr",
            Self::Issue(_) => "issue",
            Self::Firing(_) => "firing",
            Self::Note(_) => "note",
        }
    }
}

impl FromStr for Evidence {
    type Err = EvidenceError;

    fn from_str(given: &str) -> Result<Self, EvidenceError> {
        let fail = |why| EvidenceError {
            given: given.chars().take(120).collect(),
            why,
        };
        let (kind, rest) = given
            .split_once(':')
            .ok_or_else(|| fail("it has no kind"))?;
        match kind {
            "file" => file(rest).map_err(fail),
            "pr" => number(rest).map(Self::Pull).map_err(fail),
            "issue" => number(rest).map(Self::Issue).map_err(fail),
            "firing" => firing(rest).map_err(fail),
            "note" => note(rest).map_err(fail),
            _ => Err(fail("there is no such kind")),
        }
    }
}

fn number(text: &str) -> Result<u64, &'static str> {
    let is_plain = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_plain && number > 0 => Ok(number),
        _ => Err("it has no number"),
    }
}

fn firing(text: &str) -> Result<Evidence, &'static str> {
    let is_id =
        (4..=36).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !is_id {
        return Err("it has no firing's id");
    }
    Ok(Evidence::Firing(text.to_owned()))
}

fn note(text: &str) -> Result<Evidence, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it says nothing");
    }
    if text.len() > TEXT_MAX {
        return Err("it is longer than 1000 bytes");
    }
    Ok(Evidence::Note(text.to_owned()))
}

/// `PATH@COMMIT`, and `:FIRST-LAST` or `:LINE`. A path may have `@` and `:` in it: the commit is the last.
fn file(text: &str) -> Result<Evidence, &'static str> {
    let (path, rest) = text.rsplit_once('@').ok_or("it has no commit")?;
    let (commit, lines) = match rest.split_once(':') {
        Some((commit, lines)) => (commit, Some(range(lines)?)),
        None => (rest, None),
    };
    if !COMMIT.contains(&commit.len()) || !commit.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err("it has no commit");
    }
    let leads_out =
        path.starts_with('/') || path.split('/').any(|part| part == ".." || part.is_empty());
    if path.is_empty() || path.len() > TEXT_MAX || leads_out || path.contains(['\0', '\n', '\r']) {
        return Err("it has no path in a repository");
    }
    Ok(Evidence::File {
        path: path.to_owned(),
        commit: commit.to_ascii_lowercase(),
        lines,
    })
}

fn range(text: &str) -> Result<Lines, &'static str> {
    let line = |text: &str| match number(text).map(u32::try_from) {
        Ok(Ok(line)) if line <= LINE_MAX => Ok(line),
        _ => Err("it has no lines"),
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let lines = Lines {
        first: line(first)?,
        last: line(last)?,
    };
    if lines.first > lines.last {
        return Err("its lines end before they begin");
    }
    Ok(lines)
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                path,
                commit,
                lines,
            } => {
                write!(f, "file:{path}@{commit}")?;
                lines.map_or(Ok(()), |lines| write!(f, ":{}-{}", lines.first, lines.last))
            }
            Self::Pull(number) => write!(f, "pr:{number}"),
            Self::Issue(number) => write!(f, "issue:{number}"),
            Self::Firing(id) => write!(f, "firing:{id}"),
            Self::Note(text) => write!(f, "note:{text}"),
        }
    }
}

impl TryFrom<String> for Evidence {
    type Error = EvidenceError;
    fn try_from(given: String) -> Result<Self, EvidenceError> {
        given.parse()
    }
}

impl From<Evidence> for String {
    fn from(evidence: Evidence) -> Self {
        evidence.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_reads_back() {
        for text in [
            "file:src/lib.rs@0a1b2c3:10-20",
            "file:a@b/c:d@0a1b2c3",
            "pr:7",
            "issue:12",
            "firing:1a2b3c4d",
            "note:people said so",
        ] {
            assert_eq!(text.parse::<Evidence>().unwrap().to_string(), text);
        }
        let one = "file:x.rs@0A1B2C3:4".parse::<Evidence>().unwrap();
        assert_eq!(one.to_string(), "file:x.rs@0a1b2c3:4-4");
    }

    #[test]
    fn what_is_no_evidence_is_told() {
        for text in [
            "",
            "x",
            "pr:",
            "pr:0",
            "pr:-1",
            "pr:+7",
            "pr:1e3",
            "issue:one",
            "firing:zz",
            "firing:1",
            "note:",
            "note:  ",
            "file:x",
            "file:x@",
            "file:@0a1b2c3",
            "file:/etc/passwd@0a1b2c3",
            "file:../x@0a1b2c3",
            "file:x@0a1b2c3:9-1",
            "file:x@0a1b2c3:0-1",
            "file:x@0a1b2c3:",
            "file:x@notahex:1-2",
            "url:http://x",
        ] {
            assert!(text.parse::<Evidence>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_as_it_reads(text in "(file|pr|issue|firing|note):.{0,60}") {
            if let Ok(one) = text.parse::<Evidence>() {
                prop_assert_eq!(one.to_string().parse::<Evidence>(), Ok(one));
            }
        }

        #[test]
        fn files_are_found_in_any_text(path in "[a-z@:/. ]{1,20}", first in 1u32..500, more in 0u32..50) {
            let text = format!("file:{path}@0a1b2c3d:{first}-{}", first + more);
            if let Ok(one) = text.parse::<Evidence>() {
                prop_assert_eq!(one.to_string(), text);
            }
        }
    }
}
