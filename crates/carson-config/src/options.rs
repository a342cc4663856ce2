//! What the binary hands in.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where to read from.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// `CARSON_HOME`.
    pub home: PathBuf,
    /// Where `carson.toml` and `roles/` are, when not in the home itself.
    pub files: Option<PathBuf>,
    /// The process's environment.
    pub env: Vec<(OsString, OsString)>,
    /// What `~` stands for.
    pub user_home: Option<PathBuf>,
    /// The machine's name for itself.
    pub machine: String,
}
