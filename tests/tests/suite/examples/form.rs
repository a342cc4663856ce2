//! The form of an example, `roles/NAME/examples/N-NAME.toml`: what there is, what a good session does of it, and
//! what must follow. docs/ROLES.md describes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// Files: their paths and what is in them.
pub(super) type Files = BTreeMap<String, String>;

/// One example.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Example {
    /// What it shows, in a sentence.
    pub about: String,
    pub input: Input,
    /// What a good session does; a role without sessions has none.
    pub answer: Option<Answer>,
    pub good: Good,
}

/// What there is before the firing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The issue; for who works on pull requests, the one that the pull request is for. Without a title there is
    /// none.
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub body: String,
    #[serde(default)]
    pub labels: Vec<String>,
    /// Other repositories in which the role may file issues.
    #[serde(default)]
    pub others: Vec<String>,
    /// Files of the base.
    #[serde(default)]
    pub files: Files,
    /// The command that must exit 0.
    pub check: Option<String>,
    /// How test files are run (`red_to_green.run` of the repository).
    pub test: Option<String>,
    /// What prints the lcov report (`coverage.run` of the role).
    pub coverage: Option<String>,
    pub pull: Option<Offered>,
}

/// A pull request of the fleet's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offered {
    /// Its text; Carson's own without it.
    pub body: Option<String>,
    /// What it writes.
    pub files: Files,
    #[serde(default)]
    pub checks: Vec<Checked>,
    #[serde(default)]
    pub threads: Vec<Asked>,
    /// What the fleet's own review of it says; it has none without this.
    pub ship_ready: Option<bool>,
    /// What a person wrote who asks for changes.
    pub objection: Option<String>,
}

/// A check of its newest commit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checked {
    pub name: String,
    pub conclusion: String,
    #[serde(default)]
    pub log: String,
}

/// What a person asks at a line of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub path: String,
    pub line: u64,
    pub says: String,
}

/// What a good session does. Sessions that only judge say yes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Answer {
    /// What the session says that plans.
    pub plan: Option<String>,
    /// What the one that works writes, and commits with this message.
    pub files: Files,
    pub commit: Option<String>,
    /// What it asks for: the JSON of its outbox. `$WORK` stands for the number that it works on, `$HEAD` for the
    /// commit of a pull request.
    pub outbox: Option<String>,
    /// What it says in the end.
    pub says: Option<String>,
}

/// What must follow; what is not named may be as it likes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Good {
    pub outcome: String,
    /// What the reason says, among other things.
    pub reason: Option<String>,
    /// All labels of the issue afterwards, in the order of their letters.
    pub labels: Option<Vec<String>>,
    /// Whether the issue is closed.
    pub closed: Option<bool>,
    /// What comments on the work say, among other things; an empty list: there is none.
    pub comments: Option<Vec<String>>,
    /// The titles of the issues that are filed, once a person has approved the plan, if that is needed.
    pub issues: Option<Vec<String>>,
    /// The same of other repositories, by their names.
    #[serde(default)]
    pub others: BTreeMap<String, Vec<String>>,
    /// What the pushed commit has in these files, among other things.
    #[serde(default)]
    pub files: Files,
    /// Whether the fleet's review says that it may be merged.
    pub ship_ready: Option<bool>,
    /// What that review says, among other things.
    #[serde(default)]
    pub reviews: Vec<String>,
    /// What the fleet answers in the first thread, among other things.
    #[serde(default)]
    pub threads: Vec<String>,
    /// Whether it is merged.
    pub merged: Option<bool>,
}

impl Example {
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    pub(super) fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap();
        Self::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }
}
