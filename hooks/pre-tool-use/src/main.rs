//! The hook's program. See the library.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Agent CLIs give it no argument.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == "--version")
    {
        let said = writeln!(
            std::io::stdout(),
            "carson-hook {}",
            env!("CARGO_PKG_VERSION")
        );
        return ExitCode::from(u8::from(said.is_err()));
    }
    carson_hook::run_stdin()
}

/// What the standard library calls to list the functions on the stack: none, as at a stack's end.
///
/// The small binary has no tables to find them by (`build.rs`). With this the compiler sees that it
/// never names one, and leaves out the reader of debug information: 190 kB, a third of the program.
#[cfg(small)]
#[expect(
    unsafe_code,
    reason = "the name is the unwinder's, whose library is not loaded: nothing else has it"
)]
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(
    _each: *const std::ffi::c_void,
    _argument: *mut std::ffi::c_void,
) -> std::ffi::c_int {
    const END_OF_STACK: std::ffi::c_int = 5;
    END_OF_STACK
}
