//! The end of whoever puts walls up: it becomes the program.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The launcher's exit code when the program was not started: the profile cannot be read, or asks
/// for more than the kernel can do. Standard error says why.
pub const UNMET: u8 = 125;

/// Comes back with the exit code of a shell for what cannot be run.
pub(super) fn become_program(mut command: Command) -> u8 {
    let error = command.exec();
    let _ = writeln!(
        io::stderr(),
        "carson sandbox: {:?}: {error}",
        command.get_program()
    );
    exit_of(&error)
}

/// The exit code of a shell for what cannot be run.
pub(super) fn exit_of(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::NotFound => 127,
        io::ErrorKind::PermissionDenied => 126,
        _ => UNMET,
    }
}
