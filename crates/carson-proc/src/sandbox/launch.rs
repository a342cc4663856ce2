//! The launcher: puts the walls up around itself and becomes the program.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::call::{LAUNCH, PROBE, UNMET, WRITTEN, parse};
#[cfg(target_os = "linux")]
use super::linux as outside;
#[cfg(not(target_os = "linux"))]
use super::macos_launch as outside;
use super::written;

/// Becomes the launcher if the command line says so, or says what was written above layers; `None` for an
/// ordinary start.
///
/// To be called before anything else in `main`: while there is one thread and nothing is open.
#[must_use]
pub fn launch_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next()?;
    if first == WRITTEN {
        return Some(written::answer(args));
    }
    if first != LAUNCH {
        return None;
    }
    let args: Vec<OsString> = args.collect();
    let done = if args.first().is_some_and(|first| first == PROBE) {
        outside::probe()
    } else {
        parse(args).and_then(outside::launch)
    };
    Some(done.unwrap_or_else(|why| {
        let _ = writeln!(std::io::stderr(), "carson sandbox: {why}");
        ExitCode::from(UNMET)
    }))
}
