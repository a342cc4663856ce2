//! The launcher as a program of its own: the `carson` binary does the same, but it is thirty times
//! as large, and its size is most of what a session's walls cost.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before there is a second thread or an open file.
    carson_proc::sandbox::launch_if_asked().unwrap_or_else(|| {
        if std::env::args_os()
            .nth(1)
            .is_some_and(|first| first == "--version")
        {
            let said = writeln!(
                std::io::stdout(),
                "carson-launch {}",
                env!("CARGO_PKG_VERSION")
            );
            return ExitCode::from(u8::from(said.is_err()));
        }
        let usage = "carson-launch is started by carson; try `carson sandbox -- COMMAND`";
        let _ = writeln!(std::io::stderr(), "{usage}");
        ExitCode::from(2)
    })
}
