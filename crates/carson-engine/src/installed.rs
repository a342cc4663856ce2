//! Which agent CLIs this machine has, before anything names one.

use std::path::Path;

use carson_core::{EngineKind, Program};
use carson_proc::own_program;

/// Engines that are a CLI of a name and know their models, with that name.
#[must_use]
pub fn named_clis() -> Vec<(EngineKind, &'static str)> {
    EngineKind::all()
        .filter(|engine| !engine.facts().needs_model)
        .filter_map(|engine| match engine.facts().program {
            Program::Cli(program) => Some((engine, program)),
            Program::Any | Program::Own => None,
        })
        .collect()
}

/// Those of them whose program is on PATH, in no place where sessions may write.
#[must_use]
pub fn installed() -> Vec<(EngineKind, &'static str)> {
    let path = std::env::var_os("PATH");
    let mut clis = named_clis();
    clis.retain(|(_, program)| own_program(Path::new(program), path.as_deref()).is_some());
    clis
}
