//! The programs that a player starts, as any agent CLI starts its tools.

use std::io::{Error, Result};
use std::path::Path;
use std::process::{Command, Stdio};

/// A program in the worktree, without an input.
#[expect(
    clippy::disallowed_methods,
    reason = "an agent CLI starts its tools itself"
)]
pub(super) fn program(name: &str, cwd: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(cwd).stdin(Stdio::null());
    command
}

/// Runs git, which must succeed.
pub(super) fn git(cwd: &Path, args: &[&str]) -> Result<()> {
    let status = program("git", cwd)
        .args(args)
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::other(format!("git {args:?} failed")))
    }
}
