//! The file that a porter reads.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The servers of one session, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Each of them.
    pub servers: BTreeMap<String, GrantedServer>,
    /// Where is noted, for people, what was refused and what went wrong.
    pub events: Option<PathBuf>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedServer {
    /// Its program.
    pub program: PathBuf,
    /// The arguments of that.
    pub args: Vec<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// The tools that the session has.
    pub tools: Vec<String>,
    /// Files with secrets, which the porter takes out of what the server says.
    pub secrets: Vec<PathBuf>,
    /// How long a call may take.
    pub call_ms: u64,
}

impl Granted {
    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }
}
