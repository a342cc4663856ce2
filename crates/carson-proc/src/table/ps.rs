//! macOS and the like: ps(1).
#![cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "compiled on Linux for the tests of the parser")
)]

use super::Entry;

const COLUMNS: &str = "pid=,ppid=,pgid=,state=,lstart=";

/// One process, dead ones that nobody has reaped included.
pub(crate) fn entry(pid: i32) -> Option<Entry> {
    ps(&["-o", COLUMNS, "-p", &pid.to_string()])
        .lines()
        .find_map(parse)
}

/// All of them.
pub(crate) fn all() -> Vec<Entry> {
    ps(&["-axo", COLUMNS]).lines().filter_map(parse).collect()
}

/// Older than anything: asking ps(1) for each child would cost more than the child.
pub(crate) fn start_of_child(_pid: i32) -> u64 {
    0
}

/// Not known here.
pub(crate) fn youngest() -> Option<i32> {
    None
}

/// What the process was started with. Values with spaces are cut there; markers have none.
pub(crate) fn environment(entry: &Entry) -> Vec<u8> {
    let words = ps(&["-Eww", "-o", "command=", "-p", &entry.pid.to_string()]);
    words
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("\0")
        .into_bytes()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the process table is this crate's own matter"
)]
fn ps(args: &[&str]) -> String {
    std::process::Command::new("/bin/ps")
        .args(args)
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}

fn parse(line: &str) -> Option<Entry> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [pid, parent, group, state, _weekday, month, day, time, year] = fields[..] else {
        return None;
    };
    Some(Entry {
        pid: pid.parse().ok()?,
        parent: parent.parse().ok()?,
        group: group.parse().ok()?,
        zombie: state.starts_with('Z'),
        start: seconds(year, month, day, time)?,
    })
}

/// A number that grows with time. Months of 31 days do: nobody reads a date from it.
fn seconds(year: &str, month: &str, day: &str, time: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|name| *name == month)? as u64;
    let day: u64 = day.parse().ok()?;
    let days = (year.parse::<u64>().ok()? * 12 + month) * 31 + day;
    let mut clock = time.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Nobody can say here.
pub(crate) fn has_locked(_pid: i32, _file: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let line = "  501   1   77 Ss   Sat Nov  7 06:05:04 2026";
        let entry = parse(line).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group), (501, 1, 77));
        assert!(!entry.zombie);
        assert_eq!(parse("PID PPID PGID"), None);
    }

    #[test]
    fn later_starts_are_greater() {
        let starts: Vec<_> = [
            ("2025", "Dec", "31", "23:59:59"),
            ("2026", "Jan", "1", "00:00:00"),
            ("2026", "Jan", "1", "00:00:01"),
            ("2026", "Jan", "1", "00:01:00"),
            ("2026", "Jan", "1", "01:00:00"),
            ("2026", "Feb", "1", "00:00:00"),
        ]
        .map(|(year, month, day, time)| seconds(year, month, day, time).unwrap())
        .to_vec();
        assert!(starts.is_sorted_by(|a, b| a < b), "{starts:?}");
    }
}
