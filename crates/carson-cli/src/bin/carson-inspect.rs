//! The inspector as a program of its own: the `carson` binary answers the same questions, but it is
//! several times as large, and a firing asks up to a dozen of them, each of a new process.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    if cfg!(target_feature = "crt-static") {
        carson_proc::look_names_up_alone();
    }
    carson_proc::inspector::answer_if_asked(&carson_firing::questions()).unwrap_or_else(|| {
        if std::env::args_os()
            .nth(1)
            .is_some_and(|first| first == "--version")
        {
            let version = env!("CARGO_PKG_VERSION");
            let said = writeln!(std::io::stdout(), "carson-inspect {version}");
            return ExitCode::from(u8::from(said.is_err()));
        }
        let usage = "carson-inspect is started by carson, to look at what a session left";
        let _ = writeln!(std::io::stderr(), "{usage}");
        ExitCode::from(2)
    })
}
