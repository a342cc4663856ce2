//! What a session proposes: `lessons.json`, whose every word is a stranger's.

use std::path::Path;

use carson_core::lesson::{Evidence, LessonKind, LessonSource, Scope, Severity};
use carson_core::{FiringId, RepoName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::candidate::Candidate;

/// The most that one firing proposes.
pub const MOST: usize = 5;
/// Longest file that is read, in bytes.
pub const BYTES: u64 = 64 * 1024;

/// One of them, as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    text: String,
    scope: Scope,
    evidence: Vec<Evidence>,
    #[serde(default = "fact")]
    kind: LessonKind,
    #[serde(default = "info")]
    severity: Severity,
    #[serde(default = "even")]
    confidence: f64,
}

fn fact() -> LessonKind {
    LessonKind::Fact
}

fn info() -> Severity {
    Severity::Info
}

fn even() -> f64 {
    0.5
}

/// What a file proposes, and how many of its entries are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// Those that have the form of one.
    pub proposals: Vec<Proposal>,
    /// How many have not.
    pub dropped: usize,
    /// What is wrong with the first of these.
    pub why: Option<String>,
}

impl Proposed {
    /// Reads a file; whatever it is, there is an answer.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let entries = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(mut file)) => match (file.remove("version"), file.remove("lessons")) {
                (Some(version), Some(Value::Array(entries))) if version == 1 && file.is_empty() => {
                    entries
                }
                _ => return Self::none("it is not {\"version\": 1, \"lessons\": […]}"),
            },
            Ok(_) => return Self::none("it is not {\"version\": 1, \"lessons\": […]}"),
            Err(error) => return Self::none(&error.to_string()),
        };
        let mut read = Self::default();
        for (at, entry) in entries.into_iter().enumerate() {
            match serde_json::from_value::<Proposal>(entry) {
                Ok(_) if at >= MOST => {
                    read.drop(format!("a firing proposes {MOST} lessons at most"));
                }
                Ok(proposal) => read.proposals.push(proposal),
                Err(error) => read.drop(error.to_string()),
            }
        }
        read
    }

    /// A file that is none.
    #[must_use]
    pub fn none(why: &str) -> Self {
        let mut none = Self::default();
        none.drop(why.to_owned());
        none
    }

    fn drop(&mut self, why: String) {
        self.dropped += 1;
        self.why.get_or_insert(why.chars().take(200).collect());
    }
}

impl Proposal {
    /// As a candidate of a firing in a repository; `by` is its role.
    #[must_use]
    pub fn candidate(self, firing: FiringId, repo: &RepoName, by: &str) -> Candidate {
        Candidate {
            text: self.text.trim().to_owned(),
            body: None,
            kind: self.kind,
            severity: self.severity,
            // It knows one repository, whatever it says.
            repo: Some(repo.clone()),
            scope: self.scope,
            confidence: self.confidence,
            valid_from: None,
            valid_to: None,
            evidence: self.evidence,
            source: LessonSource::Session,
            by: by.to_owned(),
            firing: Some(firing),
            origin: None,
        }
    }
}

/// What an execute session is told of the file.
#[must_use]
pub fn explained(file: &Path, repo: &RepoName) -> String {
    format!(
        "If you learned something about this repository that later sessions would lose time without, and that the code \
         itself does not say at once, propose it (at most {MOST}) as JSON in `{}`:\n\n```json\n{{\"version\": 1, \"lessons\": \
         [{{\"text\": \"one claim in a sentence\", \"scope\": \"repo:{repo}\", \"kind\": \"fact | pitfall | convention | procedure\", \
         \"evidence\": [\"file:PATH@COMMIT:FIRST-LAST\"]}}]}}\n```\n\n`COMMIT` is one that the base branch has. Nothing there is \
         believed unseen; most tasks teach nothing, and then there is no file.",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = r#"{"text": "The cache is cold after a deploy", "scope": "repo:widget", "evidence": ["pr:7"]}"#;

    #[test]
    fn what_is_one_is_read_and_what_is_none_is_counted() {
        let read = |entries: &str| {
            Proposed::read(&format!("{{\"version\": 1, \"lessons\": [{entries}]}}"))
        };
        assert_eq!(read(GOOD).proposals.len(), 1);
        let mixed = read(&format!("{GOOD}, 7, {{\"text\": \"x\"}}, {GOOD}"));
        assert_eq!((mixed.proposals.len(), mixed.dropped), (2, 2));
        let many = read(&[GOOD; 9].join(","));
        assert_eq!((many.proposals.len(), many.dropped), (MOST, 4));
        for odd in [
            GOOD.replace("repo:widget", "everywhere"),
            GOOD.replace("pr:7", "because"),
            GOOD.replace("\"text\"", "\"state\": \"promoted\", \"text\""),
            GOOD.replace("\"pr:7\"", "\"pr:7\", 8"),
        ] {
            assert_eq!(read(&odd).dropped, 1, "{odd}");
        }
        for none in [
            "",
            "[]",
            "{}",
            "null",
            "{\"version\": 2, \"lessons\": []}",
            "{\"version\": 1, \"lessons\": {}}",
        ] {
            assert_eq!(Proposed::read(none).dropped, 1, "{none}");
        }
    }

    proptest! {
        #[test]
        fn anything_has_an_answer(text in "\\PC{0,300}") {
            prop_assert!(Proposed::read(&text).proposals.len() <= MOST);
        }
    }
}
