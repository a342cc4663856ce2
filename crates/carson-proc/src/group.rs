//! A process group.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp};

/// The group of a child of ours, which has the child's number.
///
/// The number stays taken while the group has members, and while its leader is not reaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group(pub i32);

impl Group {
    /// Sends a signal to all members at once. To the leader as well, should it have moved to
    /// another group: so it must not have been reaped.
    pub(crate) fn signal(self, signal: Signal) {
        // The numbers 0 and 1 and our own group mean ourselves and everybody.
        if self.is_foreign() && killpg(Pid::from_raw(self.0), signal).is_err() {
            let _ = kill(Pid::from_raw(self.0), signal);
        }
    }

    /// Kills all members at once: none of them can fork between the look and the signal.
    pub(crate) fn kill(self) {
        if self.is_foreign() {
            let _ = killpg(Pid::from_raw(self.0), Signal::SIGKILL);
        }
    }

    /// Whether it has members. Far cheaper than the process table.
    pub(crate) fn is_empty(self) -> bool {
        killpg(Pid::from_raw(self.0), None) == Err(Errno::ESRCH)
    }

    fn is_foreign(self) -> bool {
        self.0 > 1 && self.0 != getpgrp().as_raw()
    }
}
