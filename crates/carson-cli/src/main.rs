//! The `carson` binary: parse, call, print.
//!
//! Everything that reads argv, the environment, the operator's home or the terminal is in this
//! crate. One file per command under `commands/`; `error.rs` has the one table of exit codes.

mod app;
mod args;
mod commands;
mod error;
mod log;
mod print;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    if let args::Command::Hook {
        action: args::HookAction::Run,
    } = &args.command
    {
        return commands::hook::answer();
    }
    let json = args.json;
    match commands::run(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            error.show(json);
            ExitCode::from(error.kind.code())
        }
    }
}
