//! What may stand in a plan of stories: these types are its schema, and its check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a story may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It may change what its scope covers, and make what it is to create.
    #[default]
    Fix,
    /// It only looks: it may make what it is to create, and nothing else.
    Audit,
}

/// How far a story is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// To be done.
    #[default]
    Open,
    /// Done: its last attempt passed.
    Passing,
    /// Given up by a run. `open` lets the next run take it up again.
    Failed,
    /// Left out by a person.
    Skipped,
}

/// A plan of stories (`stories.json`): what `carson stories run` does, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stories.json")]
pub struct Plan {
    /// Where this schema is, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of this format.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// What the plan is for.
    #[schemars(length(min = 1, max = 200))]
    pub project: String,
    /// A line for `sh` that does a story: it gets the prompt on standard input, and its file as `{prompt_file}`. Without
    /// it `--executor` or `CARSON_STORIES_EXECUTOR` must say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub executor: Option<String>,
    /// A file of the repository whose text stands at the end of every prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub policy: Option<String>,
    /// How many attempts a story gets in one run; without it 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub max_attempts: Option<u32>,
    /// The time of one attempt, in seconds; without it 900.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: Option<u32>,
    /// How many times in a row a promise must hold; without it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub verify_runs: Option<u32>,
    /// The time of one run of a promise, in seconds; without it 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub verify_timeout_seconds: Option<u32>,
    /// Untracked files that git ignores and no scope is held against, by patterns as in .gitignore, beside those of the
    /// usual build folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope_ignore: Vec<String>,
    /// The stories.
    #[schemars(length(min = 1))]
    pub stories: Vec<Story>,
}

/// One story.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// Its name, which no other has: letters and digits, with `-`, `_` or `.` between.
    #[schemars(
        length(max = 64),
        regex(pattern = r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$")
    )]
    pub id: String,
    /// The smallest comes first; the same goes by id, `S-2` before `S-10`.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub priority: u32,
    /// What it is about, in one line.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What is to be done.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// What it may do; without it `fix`.
    #[serde(default)]
    pub mode: Mode,
    /// What it may change, by patterns as in .gitignore: the last one that covers a file decides, `!` takes out.
    #[serde(default)]
    pub scope: Vec<String>,
    /// What must be so in the end. `Created PATH` is looked at: a file of the repository that the attempt made or
    /// changed. All else is told to the executor.
    #[serde(default)]
    pub acceptance: Vec<String>,
    /// A line for `sh` that must end with 0 after the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub promise: Option<String>,
    /// How far it is; Carson writes it.
    #[serde(default)]
    pub status: Status,
    /// How many attempts it had; Carson counts them.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub attempts: u32,
}

impl Mode {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Audit => "audit",
        }
    }
}

impl Status {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Passing => "passing",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}
