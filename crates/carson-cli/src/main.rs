//! The `carson` binary: parse, call, print.
//!
//! Everything that reads argv, the environment, the operator's home or the terminal is in this
//! crate. One file per command under `commands/`; `error.rs` has the one table of exit codes.

mod app;
mod args;
mod commands;
#[cfg(test)]
mod documents;
mod error;
mod log;
mod print;
mod terminal;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use crate::error::CommandError;

fn main() -> ExitCode {
    // Before there is a second thread or an open file.
    if let Some(code) = carson_proc::sandbox::launch_if_asked() {
        return code;
    }
    if cfg!(target_feature = "crt-static") {
        carson_proc::look_names_up_alone();
    }
    if let Some(code) = carson_proc::inspector::answer_if_asked(&carson_firing::questions()) {
        return code;
    }
    if let Some(code) = carson_porter::answer_if_asked() {
        return code;
    }
    // To a daemon that says "read your settings again", from its first moment on.
    let mut words = std::env::args_os();
    let hang_ups = words
        .any(|word| word == "daemon")
        .then(carson_proc::outlive_hang_ups);
    others_write_nothing();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return not_understood(&error),
    };
    if let args::Command::Hook {
        action: args::HookAction::Run,
    } = &args.command
    {
        return commands::hook::answer();
    }
    if let (Some(hang_ups), false) = (hang_ups, matches!(args.command, args::Command::Daemon(_))) {
        hang_ups.as_before();
    }
    let json = args.json;
    let works = works(&args.command);
    // A panic tells the values that surprised it.
    std::panic::set_hook(Box::new(|panic| print::error(&panic.to_string())));
    // A panic prints itself; what is left to say is what it means. Nothing is used after it.
    let done = catch_unwind(AssertUnwindSafe(|| commands::run(args)));
    let done = done.unwrap_or_else(|_| Err(CommandError::bug()));
    let done = done.and_then(|code| match print::lost().filter(|_| !works) {
        None => Ok(code),
        Some(error) => Err(CommandError::failed(format!(
            "the answer could not be written whole: {error}"
        ))
        .hint("what was done is done; ask again where there is room for the answer")),
    });
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            error.show(json);
            ExitCode::from(error.kind.code())
        }
    }
}

/// Whether a command is there for what it does, which its exit code tells, and prints how far it is: whoever does not see
/// that has lost no answer.
fn works(command: &args::Command) -> bool {
    use args::Command as C;
    matches!(
        command,
        C::Daemon(_) | C::Fire(_) | C::Demo(_) | C::Loop(_) | C::Stories(_) | C::Mcp(_)
    )
}

/// What clap says of a command line, help among it; as JSON where that was asked for.
fn not_understood(error: &clap::Error) -> ExitCode {
    let mut typed = std::env::args_os().take_while(|word| word != "--");
    if !error.use_stderr() || !typed.any(|word| word == "--json") {
        error.exit();
    }
    let error = CommandError::misread(&error.render().to_string());
    error.show(true);
    ExitCode::from(error.kind.code())
}

/// Nothing that Carson makes can be written by anybody else, whatever mask it was started with.
fn others_write_nothing() {
    use nix::sys::stat::{Mode, umask};
    let others = Mode::S_IWGRP | Mode::S_IWOTH;
    let before = umask(others);
    umask(before | others);
}
