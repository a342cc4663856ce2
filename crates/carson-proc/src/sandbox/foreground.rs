//! A confined program in the foreground, for an operator.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use nix::unistd::Pid;

use crate::marker::Marker;
use crate::sandbox::call::{LAUNCH, Say};
use crate::sandbox::cgroup::Cgroup;
use crate::sandbox::probe::launcher;
use crate::sandbox::profile::Profile;
use crate::sandbox::wait_child::{self, End, hold_signals, wait_child};

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub struct ForegroundEnd(End);

impl ForegroundEnd {
    /// Ends us by the same signal, or gives the exit code to end with.
    #[must_use]
    pub fn end_likewise(self) -> u8 {
        wait_child::end_likewise(self.0)
    }
}

/// Runs a program with a profile's walls around it, with our own input and output, and stays until
/// its end. SIGTERM and its like are handed on; what the keyboard sends, the terminal itself sends
/// to both.
///
/// `env` is added to our own environment. To be called while there is one thread, because it holds
/// signals back; who needs more threads calls [`hold_signals`] before it starts them.
///
/// # Errors
/// When the profile cannot be read or the launcher cannot be started.
#[expect(
    clippy::disallowed_methods,
    reason = "stays with it in the foreground: no deadline is wanted"
)]
pub fn run_in_foreground(
    profile: &Path,
    say: Say,
    (program, args): (&Path, &[OsString]),
    env: &[(&str, String)],
) -> io::Result<ForegroundEnd> {
    let known = Profile::read_from(profile)?;
    let marker = Marker::next();
    let name = marker.value().to_string_lossy().into_owned();
    let wanted = known.force.unwrap_or_default().cgroup;
    let cgroup = wanted
        .then(|| Cgroup::make(&name, &known.resources))
        .flatten();
    let mut command = std::process::Command::new(launcher());
    command.arg(LAUNCH).arg(say.option());
    for dir in cgroup.as_ref().map(Cgroup::dirs).unwrap_or_default() {
        command.arg("--cgroup").arg(dir);
    }
    command.arg(profile).arg("--").arg(program).args(args);
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command.env(crate::marker::VARIABLE, marker.value());
    hold_signals();
    let child = command.spawn()?;
    let child = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let end = wait_child(child, child, wait_child::FROM_ELSEWHERE);
    drop(cgroup);
    Ok(ForegroundEnd(end))
}
