//! The processes of one host among those of this machine.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process as the kernel tells.
struct Process {
    pid: i32,
    parent: i32,
    state: char,
    line: Vec<u8>,
    environment: Vec<u8>,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let file = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&file("stat")).into_owned();
        // pid (name) state parent …, and a name may hold anything.
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut rest = rest.split(' ');
        Some(Self {
            pid,
            state: rest.next()?.chars().next()?,
            parent: rest.next()?.parse().ok()?,
            line: file("cmdline"),
            environment: file("environ"),
        })
    }

    /// The forge's own end of a push is on no host.
    fn is_the_forges(&self) -> bool {
        contains(&self.line, b"receive-pack")
    }

    fn is_of(&self, dir: &[u8], firings: &[Vec<u8>]) -> bool {
        let marks = |id: &Vec<u8>| contains(&self.environment, id);
        contains(&self.line, dir) || contains(&self.environment, dir) || firings.iter().any(marks)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::read)
        .filter(|process| process.state != 'Z')
        .collect()
}

/// Those that name its directory or one of its firings, and their descendants.
fn of_host(dir: &Path) -> Vec<Process> {
    let mut place = dir.as_os_str().as_bytes().to_vec();
    place.push(b'/');
    let benches = fs::read_dir(dir.join("home/benches"));
    let firings: Vec<Vec<u8>> = benches
        .into_iter()
        .flatten()
        .flatten()
        .map(|bench| [b"CARSON_FIRING=", bench.file_name().as_bytes()].concat())
        .collect();
    let mut left = all();
    left.retain(|process| !process.is_the_forges());
    let mut known = HashSet::new();
    let mut found = Vec::new();
    loop {
        let is_of =
            |process: &Process| known.contains(&process.parent) || process.is_of(&place, &firings);
        let (more, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(is_of);
        if more.is_empty() {
            return found;
        }
        known.extend(more.iter().map(|process| process.pid));
        found.extend(more);
        left = rest;
    }
}

/// Ends everything on a host in the midst of what it does: nobody on it sees another one end.
pub fn end(dir: &Path) {
    freeze(dir);
    signal_until_none(dir, Signal::SIGKILL, |_| true);
}

/// Stops everything on a host.
pub fn freeze(dir: &Path) {
    signal_until_none(dir, Signal::SIGSTOP, |process| process.state != 'T');
}

/// Lets it go on.
pub fn thaw(dir: &Path) {
    signal_until_none(dir, Signal::SIGCONT, |process| process.state == 'T');
}

/// Those that begin meanwhile, too; but not for ever.
fn signal_until_none(dir: &Path, signal: Signal, wanted: fn(&Process) -> bool) {
    for _ in 0..200 {
        let mut found = of_host(dir);
        found.retain(wanted);
        if found.is_empty() {
            return;
        }
        for process in found {
            let _ = kill(Pid::from_raw(process.pid), signal);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The processes of firings below a directory, with the ids of those.
pub fn firings(dir: &Path) -> Vec<(i32, String)> {
    let dir = dir.as_os_str().as_bytes();
    let mut found: Vec<_> = all()
        .iter()
        .filter(|process| contains(&process.line, dir))
        .filter_map(|process| Some((process.pid, firing_of(&process.line)?)))
        .collect();
    found.sort_by(|(_, one), (_, other)| one.cmp(other));
    found
}

/// `carson --home DIR firing run ID …`, as the kernel has it.
fn firing_of(line: &[u8]) -> Option<String> {
    let mut words = line.split(|byte| *byte == 0);
    words.find(|word| *word == b"firing")?;
    words.next().filter(|word| *word == b"run")?;
    String::from_utf8(words.next()?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_firing_is_known_by_its_command_line() {
        let line = b"carson\0--home\0/h\0firing\0run\0id-1\0--at\0x\0";
        assert_eq!(firing_of(line).as_deref(), Some("id-1"));
        assert_eq!(firing_of(b"carson\0--home\0/firing run/h\0daemon\0"), None);
    }
}
