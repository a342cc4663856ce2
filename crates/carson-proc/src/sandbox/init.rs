//! Those who stay: the launcher outside the namespaces, and the first process inside.
//!
//! ```text
//! run ── launcher (the group that run knows) ── init (pid 1, own session) ── program (own session)
//! ```
//! A signal goes down this line one by one, so that the program gets it once; the end goes up, with
//! the program's own exit code or signal. Should anybody in the line be killed, the kernel kills
//! who is below, and with init everybody in its namespace.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What the first process inside says at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
}

/// What a program may be told.
pub(super) const ALL: &[Signal] = &[
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// The same without what a terminal sends to everybody in its foreground.
pub(super) const FROM_ELSEWHERE: &[Signal] = &[
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// From now on signals wait until they are asked for; SIGPIPE and the child's end too.
pub(super) fn hold_signals() {
    // Whoever started us may have ignored the end of children: then nobody could wait for them.
    set_default(Signal::SIGCHLD);
    let _ = SigSet::all().thread_block();
}

/// As a program expects to be started: no signal held back, and none ignored by us.
pub(super) fn release_signals() {
    set_default(Signal::SIGPIPE);
    let _ = SigSet::empty().thread_set_mask();
}

#[expect(unsafe_code, reason = "the default handler of a signal")]
fn set_default(signal: Signal) {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default handler runs none of our code.
    let _ = unsafe { sigaction(signal, &default) };
}

/// Kills us when our parent ends, or at once if it has ended before this was said.
pub(super) fn die_with_parent(parent_is_there: impl FnOnce() -> bool) {
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    if !parent_is_there() {
        std::process::exit(1);
    }
}

/// Waits for a child and hands signals on to it, or to its whole group; everybody else who ends
/// meanwhile is reaped.
pub(super) fn stay_with(child: Pid, to: Pid, handed_on: &[Signal]) -> End {
    let signals = SigSet::all();
    loop {
        match signals.wait() {
            Ok(Signal::SIGCHLD) => {
                if let Some(end) = reap(child) {
                    return end;
                }
            }
            Ok(signal) if handed_on.contains(&signal) => {
                let _ = kill(to, signal);
            }
            _ => {}
        }
    }
}

fn reap(child: Pid) -> Option<End> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => return Some(End::Code(code)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Some(End::Signal(signal as i32));
            }
            Ok(WaitStatus::StillAlive) => return None,
            Err(nix::errno::Errno::EINTR) | Ok(_) => {}
            // The child is gone and nobody said how: somebody else has waited for it.
            Err(_) => return Some(End::Code(1)),
        }
    }
}

/// What goes through the pipe from the first process inside to the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The walls that it puts up are not to be had.
    Failed(String),
    /// The program has ended, and has left so many behind.
    Ended(End, u32),
}

impl Word {
    pub(super) fn say(&self, pipe: OwnedFd) {
        let text = match self {
            Self::Failed(why) => format!("failed {why}"),
            Self::Ended(End::Code(code), left) => format!("code {code} {left}"),
            Self::Ended(End::Signal(signal), left) => format!("signal {signal} {left}"),
        };
        let _ = File::from(pipe).write_all(text.as_bytes());
    }

    /// Whether somebody is there to hear it.
    pub(super) fn is_heard(pipe: &OwnedFd) -> bool {
        let mut poll_fd = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
        poll(&mut poll_fd, PollTimeout::ZERO) == Ok(0)
    }

    /// Reads to the end; `None` if it was killed before it could say anything.
    pub(super) fn hear(pipe: OwnedFd) -> Option<Self> {
        let mut text = String::new();
        File::from(pipe).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        if kind == "failed" {
            return Some(Self::Failed(rest.to_owned()));
        }
        let (number, left) = rest.split_once(' ')?;
        let (number, left) = (number.parse().ok()?, left.parse().ok()?);
        match kind {
            "code" => Some(Self::Ended(End::Code(number), left)),
            "signal" => Some(Self::Ended(End::Signal(number), left)),
            _ => None,
        }
    }
}

/// Ends as the program did: our parent sees the same.
pub(super) fn end_likewise(end: End) -> u8 {
    let number = match end {
        End::Code(code) => return u8::try_from(code).unwrap_or(1),
        End::Signal(number) => number,
    };
    if let Ok(signal) = Signal::try_from(number) {
        set_default(signal);
        let _ = kill(Pid::this(), signal);
        let _ = SigSet::empty().thread_set_mask();
    }
    u8::try_from(128 + number).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_they_were_said() {
        for word in [
            Word::Failed("proc: not permitted".into()),
            Word::Ended(End::Code(7), 0),
            Word::Ended(End::Signal(9), 12),
        ] {
            let (read, write) = nix::unistd::pipe().unwrap();
            word.say(write);
            assert_eq!(Word::hear(read), Some(word));
        }
        let (read, write) = nix::unistd::pipe().unwrap();
        drop(write);
        assert_eq!(Word::hear(read), None);
    }
}
