//! One installed CLI.

use std::path::PathBuf;

use carson_core::EngineKind;

use crate::cli::Cli;

/// One installed CLI.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Which.
    pub kind: EngineKind,
    /// Its program.
    pub program: PathBuf,
    /// Arguments that the operator adds (all of them, for `command`).
    pub args: Vec<String>,
    /// The model, where the operator chose one.
    pub model: Option<String>,
    /// How hard that is told to think, where the operator said so: a word of the CLI's own.
    pub effort: Option<String>,
    /// The script, for `rehearsal`.
    pub script: Option<PathBuf>,
    /// Whose words any program speaks, where the operator said so.
    pub limits: Option<&'static Cli>,
}
