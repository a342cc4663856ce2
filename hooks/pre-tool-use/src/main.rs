//! The hook's program. See the library.

fn main() -> std::process::ExitCode {
    carson_hook::run_stdin()
}
