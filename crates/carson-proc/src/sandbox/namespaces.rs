//! Namespaces of the child's own: what is outside is not forbidden but not there.
//!
//! ```text
//! run ── launcher (the group that run knows) ── init (pid 1, own session) ── program (own session)
//! ```
//! A signal goes down this line one by one, so that the program gets it once; the end goes up, with
//! the program's own exit code or signal. Should anybody in the line be killed, the kernel kills
//! who is below, and with init everybody in its namespace.

use std::fs;
use std::os::fd::OwnedFd;

use nix::sched::CloneFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getegid, geteuid, getppid, setsid};

use crate::sandbox::launcher_protocol::{Message, die_with_parent};
use crate::sandbox::level::Ns;
use crate::sandbox::membership::Membership;
use crate::sandbox::sys;
use crate::sandbox::wait_child::{self, End, wait_child, wait_supervised};
use crate::table;

/// Which namespaces, in the order in which they are given up.
pub(super) fn attempts(net: bool) -> Vec<Vec<Ns>> {
    let all = [
        vec![Ns::Pid, Ns::Mount, Ns::Ipc, Ns::Net],
        vec![Ns::Pid, Ns::Mount, Ns::Ipc],
        vec![Ns::Mount, Ns::Ipc, Ns::Net],
        vec![Ns::Mount, Ns::Ipc],
        vec![Ns::Ipc, Ns::Net],
    ];
    let root = geteuid().is_root();
    let mut attempts = Vec::new();
    for set in all {
        if !net && set.contains(&Ns::Net) {
            continue;
        }
        // Root without the capability, as in a container, may still have users of its own.
        if root {
            attempts.push(set.clone());
        }
        attempts.push([vec![Ns::User], set].concat());
    }
    attempts
}

/// What a namespace of users bounds, written before its capabilities are gone: half of what
/// systems usually give to a user.
const INOTIFY: [(&str, &str); 2] = [
    ("/proc/sys/user/max_inotify_instances", "64"),
    ("/proc/sys/user/max_inotify_watches", "32768"),
];

/// How one attempt ended.
pub(super) enum Outcome {
    /// The program has run to its end in there.
    Done(u8, u32),
    /// These namespaces are not to be had.
    Unavailable(String),
}

/// Runs the program in new namespaces and stays until its end. `inside` is called by the first
/// process in there, before the program is; `program` becomes the program and comes back only if it
/// cannot.
pub(super) fn run(
    set: &[Ns],
    membership: &Membership,
    inside: impl FnOnce() -> Result<(), String>,
    program: impl FnOnce() -> u8,
) -> Outcome {
    let unavailable = |error: &dyn std::fmt::Display| Outcome::Unavailable(error.to_string());
    let (hear, say) = match nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC) {
        Ok(pipe) => pipe,
        Err(error) => return unavailable(&error),
    };
    wait_child::hold_signals();
    let supervisor = getppid();
    let user = set.contains(&Ns::User).then(|| (geteuid(), getegid()));
    match membership.fork_into(flags(set)) {
        Err(error) => unavailable(&error),
        Ok(Some(first)) => {
            drop(say);
            outside(first, supervisor, hear)
        }
        Ok(None) => {
            drop(hear);
            let ready = map_user(user)
                .map_err(|error| format!("user namespace: {error}"))
                .and_then(|()| inside());
            if let Err(why) = ready {
                Message::Failed(why).send(say);
                std::process::exit(1);
            }
            // Behind every change of credentials: these take it back.
            die_with_parent(|| Message::has_reader(&say));
            lead(set.contains(&Ns::Pid), say, program)
        }
    }
}

/// The launcher: stays until the first process inside has ended.
fn outside(first: Pid, supervisor: Pid, hear: OwnedFd) -> Outcome {
    let end = wait_supervised(first, supervisor);
    match Message::receive(hear) {
        Some(Message::Failed(why)) => Outcome::Unavailable(why),
        Some(Message::Ended(end, left)) => Outcome::Done(wait_child::end_likewise(end), left),
        None => Outcome::Done(wait_child::end_likewise(end), 0),
    }
}

/// The first process inside: starts the program, stays with it, and takes everybody along.
fn lead(own_pids: bool, say: OwnedFd, program: impl FnOnce() -> u8) -> ! {
    let _ = setsid();
    sys::drop_capabilities();
    if !own_pids {
        let _ = nix::sys::prctl::set_child_subreaper(true);
    }
    let first = Pid::this();
    let child = match sys::fork() {
        Ok(Some(child)) => child,
        Ok(None) => {
            drop(say);
            let _ = setsid();
            die_with_parent(|| getppid() == first);
            wait_child::release_signals();
            std::process::exit(i32::from(program()));
        }
        Err(error) => {
            Message::Failed(format!("fork: {error}")).send(say);
            std::process::exit(1);
        }
    };
    sys::be_undumpable();
    let end = wait_child(child, Pid::from_raw(-child.as_raw()), wait_child::ALL);
    let left = if own_pids { others() } else { 0 };
    if own_pids {
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    }
    Message::Ended(end, left).send(say);
    std::process::exit(match end {
        End::Code(code) => code,
        End::Signal(signal) => 128 + signal,
    })
}

/// Who is left in our namespace beside ourselves.
fn others() -> u32 {
    let all = table::all();
    let others = all.iter().filter(|entry| entry.pid != 1 && !entry.zombie);
    u32::try_from(others.count()).unwrap_or(u32::MAX)
}

/// Makes us ourselves in our namespace of users.
fn map_user(user: Option<(nix::unistd::Uid, nix::unistd::Gid)>) -> std::io::Result<()> {
    let Some((user, group)) = user else {
        return Ok(());
    };
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // What watches files is counted for the user, and without a bound of its own a session could
    // use up what the operator's editor and Carson's daemon need. Old kernels have none to set.
    for (file, most) in INOTIFY {
        let _ = fs::write(file, most);
    }
    Ok(())
}

fn flags(set: &[Ns]) -> CloneFlags {
    set.iter()
        .map(|namespace| match namespace {
            Ns::User => CloneFlags::CLONE_NEWUSER,
            Ns::Pid => CloneFlags::CLONE_NEWPID,
            Ns::Mount => CloneFlags::CLONE_NEWNS,
            Ns::Ipc => CloneFlags::CLONE_NEWIPC,
            Ns::Net => CloneFlags::CLONE_NEWNET,
        })
        .collect()
}
