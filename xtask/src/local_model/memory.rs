//! How much memory a process took.

use std::fs;

/// The most that it had at once so far, in bytes; unknown once it has ended.
pub(super) fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// In mebibytes.
pub(super) fn shown(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1024 * 1024))
}
