//! The script of a rehearsal: TOML that a person can read.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

/// Parts, of which a session plays the first that matches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The parts.
    pub when: Vec<When>,
}

/// One part of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Only in sessions of this role.
    pub role: Option<String>,
    /// Only in this stage.
    pub stage: Option<String>,
    /// Only for this issue, or this pull request.
    pub issue: Option<u64>,
    /// Only in this execute attempt.
    pub attempt: Option<u32>,
    /// Only in the so-manieth session of this stage in its firing.
    pub run: Option<u32>,
    /// Only where a file of the worktree has these words.
    pub finds: Option<Finds>,
    /// What happens.
    #[serde(rename = "do")]
    pub steps: Vec<Step>,
}

/// Words in a file of the worktree: by them a session judges what it sees, as a model would.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finds {
    /// Which file; one that is not there has no words.
    pub path: PathBuf,
    /// What it has somewhere.
    pub text: String,
}

/// One thing that a scripted session does.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Says something; the last one is the session's final text.
    Say(String),
    /// Writes a file.
    Edit {
        /// Where, in the worktree.
        path: PathBuf,
        /// What.
        content: String,
    },
    /// Adds to a file.
    Append {
        /// Where, in the worktree.
        path: PathBuf,
        /// What.
        content: String,
    },
    /// Removes a file.
    Delete(PathBuf),
    /// Stages a file and leaves it uncommitted.
    Stage(PathBuf),
    /// Stages everything and commits it with this message.
    Commit(String),
    /// Asks Carson for these entries, in the file that `$CARSON_OUTBOX` names. An entry that does not say
    /// which `issue` or `pull` it is on is on the session's work; a review that does not say its `head`
    /// is of the worktree's commit.
    Outbox(Vec<serde_json::Map<String, serde_json::Value>>),
    /// Calls the shell tool: the hook is asked first, as a CLI would.
    Tool(String),
    /// Sleeps so many milliseconds.
    SleepMs(u64),
    /// Prints so many mebibytes.
    FloodMb(u64),
    /// Whether SIGTERM does nothing from here on.
    IgnoreSigterm(bool),
    /// Leaves a process behind, in a session of its own, that sleeps so many seconds.
    Grandchild(u64),
    /// Hits the provider's limit, which ends in so many seconds.
    LimitS(i64),
    /// Ends with this exit code.
    Exit(u8),
    /// Creates `FILE.reached` and waits, at most a minute, until `FILE.go` is there.
    Barrier(PathBuf),
}

/// A script that cannot be played.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("script {path:?} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no script.
    #[error("script {path:?}: {problem}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        problem: String,
    },
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// When it cannot be read, with the line where it goes wrong.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|error| ScriptError::Parse {
            path: path.to_owned(),
            problem: error.to_string(),
        })
    }
}
