//! `carson rehearsal`: an agent CLI that plays a script.

use std::path::Path;

use carson_engine::rehearsal::{Part, Script, play};

use crate::error::CommandError;

pub fn run(script: &Path) -> Result<u8, CommandError> {
    let script = Script::read(script).map_err(|error| CommandError::usage(error.to_string()))?;
    let part = Part::of(|name| std::env::var(name).ok());
    let cwd = std::env::current_dir()?;
    play(&script, &part, &cwd, &mut std::io::stdout().lock()).map_err(Into::into)
}
