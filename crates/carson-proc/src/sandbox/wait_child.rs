//! Waiting for the end of a child: signals go down to it, its end comes back.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// How often the launcher looks whether its supervisor is there; so long a child has to end by itself
/// when it is not.
#[cfg(target_os = "linux")]
const LOOK_SECONDS: u32 = 2;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
}

/// What a program may be told.
#[cfg(target_os = "linux")]
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

/// From now on signals wait until they are asked for, by
/// [`run_in_foreground`](crate::sandbox::run_in_foreground); SIGPIPE and the child's end too. Threads that are started later hold them back as well.
pub fn hold_signals() {
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

/// Waits for a child and hands signals on to it, or to its whole group; everybody else who ends
/// meanwhile is reaped.
pub(super) fn wait_child(child: Pid, to: Pid, handed_on: &[Signal]) -> End {
    wait_while(child, to, handed_on, || true)
}

/// The same, and nobody goes on without a clock: a child whose `supervisor` is gone is told to end, and
/// made to when it does not.
#[cfg(target_os = "linux")]
pub(super) fn wait_supervised(child: Pid, supervisor: Pid) -> End {
    let is_there = || nix::unistd::getppid() == supervisor;
    nix::unistd::alarm::set(LOOK_SECONDS);
    wait_while(child, child, ALL, is_there)
}

fn wait_while(child: Pid, to: Pid, handed_on: &[Signal], supervised: impl Fn() -> bool) -> End {
    let signals = SigSet::all();
    let mut told = false;
    loop {
        match signals.wait() {
            Ok(Signal::SIGALRM) => {
                if !supervised() {
                    let how = if told {
                        Signal::SIGKILL
                    } else {
                        Signal::SIGTERM
                    };
                    let _ = kill(to, how);
                    told = true;
                }
                #[cfg(target_os = "linux")]
                nix::unistd::alarm::set(LOOK_SECONDS);
            }
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
