//! Linux: `/proc`, as proc(5) describes it.

use std::fs;
use std::io::Read as _;

use super::Entry;

/// Bytes of `/proc/PID/stat`: some fifty numbers, and a name of at most 64 bytes.
const STAT: usize = 2048;

/// One process, dead ones that nobody has reaped included.
pub(crate) fn entry(pid: i32) -> Option<Entry> {
    // Bytes: a process chooses its own name, and one that is not UTF-8 would hide it from us.
    let mut stat = [0_u8; STAT];
    let read =
        fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut stat));
    // The kernel gives all of it at once; a walk over the table is mostly these.
    parse(pid, &stat[..read.ok()?])
}

/// All of them.
pub(crate) fn all() -> Vec<Entry> {
    let Ok(dir) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    dir.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(entry)
        .collect()
}

/// The start of a child that has not been reaped; 0, older than anything, if it cannot be read.
pub(crate) fn start_of_child(pid: i32) -> u64 {
    entry(pid).map_or(0, |entry| entry.start)
}

/// The number that was given last, to a process or a thread.
pub(crate) fn youngest() -> Option<i32> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().next_back()?.parse().ok()
}

/// What the process was started with; empty for one that is not ours to look at.
pub(crate) fn environment(entry: &Entry) -> Vec<u8> {
    let whole = fs::read(format!("/proc/{}/environ", entry.pid)).unwrap_or_default();
    // The kernel's own threads have no group, and nothing to look for.
    if whole.is_empty() && entry.group != 0 {
        return environment_of_a_thread(entry.pid);
    }
    whole
}

/// The first thread can end before the others, and takes its view of the memory along.
fn environment_of_a_thread(pid: i32) -> Vec<u8> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    threads
        .filter_map(|thread| fs::read(thread.ok()?.path().join("environ")).ok())
        .find(|environment| !environment.is_empty())
        .unwrap_or_default()
}

/// Whether it has a file open that is locked (flock(2)) by that; who only opened it has not.
pub(crate) fn has_locked(pid: i32, file: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let opened = fs::read_dir(format!("/proc/{pid}/fdinfo"));
    let opened = opened.into_iter().flatten().filter_map(Result::ok);
    let mut locked = opened.filter(|one| {
        // proc_pid_fdinfo(5): `lock:` and the kind.
        let said = fs::read_to_string(one.path()).unwrap_or_default();
        said.lines()
            .any(|line| line.starts_with("lock:") && line.contains("FLOCK"))
    });
    locked.any(|one| {
        let found = fs::metadata(format!("/proc/{pid}/fd/{}", one.file_name().display()));
        found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
    })
}

/// The name in parentheses may itself hold spaces and parentheses.
fn parse(pid: i32, stat: &[u8]) -> Option<Entry> {
    let behind_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&stat[behind_name..])
        .ok()?
        .split_whitespace()
        .collect();
    let first_is_dead = matches!(*fields.first()?, "Z" | "X");
    let threads: u32 = fields.get(17)?.parse().ok()?;
    Some(Entry {
        pid,
        // The state is that of the first thread; the others may well go on without it.
        zombie: first_is_dead && threads <= 1,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_do_not_shift_the_fields() {
        let stat = b"7 (a) \xff b) (c) S 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let entry = parse(7, stat).unwrap();
        assert_eq!((entry.parent, entry.group, entry.start), (1, 5, 4242));
        assert!(!entry.zombie);
        let gone = b"7 (a) Z 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        assert!(parse(7, gone).unwrap().zombie);
        let headless = b"7 (a) Z 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 4242 0 0";
        assert!(!parse(7, headless).unwrap().zombie, "a thread is left");
        assert_eq!(parse(7, b"nonsense"), None);
        assert_eq!(parse(7, b"7 (short) S 1"), None);
    }

    #[test]
    fn we_are_in_the_table() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(all().iter().any(|entry| entry.pid == me && !entry.zombie));
        assert!(super::super::value(&environment(&entry(me).unwrap()), b"PATH").is_some());
    }
}
