//! The launcher: puts the walls up around itself and becomes the program.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::becoming::UNMET;
use super::call::{LAUNCH, PROBE, WRITTEN, parse};
use super::first::{FIRST, First};
#[cfg(target_os = "linux")]
use super::linux as outside;
#[cfg(not(target_os = "linux"))]
use super::macos_launch as outside;
use super::written;

/// Becomes the launcher if the command line says so, or says what was written above layers, or asks something before it
/// becomes a program; `None` for an ordinary start.
///
/// To be called before anything else in `main`: while there is one thread and nothing is open.
#[must_use]
pub fn launch_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next()?;
    if first == WRITTEN {
        return Some(written::answer(args));
    }
    let done = if first == FIRST {
        First::then_become(args)
    } else if first == LAUNCH {
        let args: Vec<OsString> = args.collect();
        match args.first().is_some_and(|first| first == PROBE) {
            true => outside::probe(),
            false => parse(args).and_then(outside::launch),
        }
    } else {
        return None;
    };
    Some(done.unwrap_or_else(|why| {
        let _ = writeln!(std::io::stderr(), "carson sandbox: {why}");
        ExitCode::from(UNMET)
    }))
}
