//! The process table.

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub zombie: bool,
    /// Clock ticks since boot.
    pub start: u64,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{all, entry, environment_holds};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{all, entry, environment_holds};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use super::Entry;

    pub(crate) fn entry(pid: i32) -> Option<Entry> {
        parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    pub(crate) fn all() -> Vec<Entry> {
        let Ok(dir) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        dir.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(entry)
            .collect()
    }

    /// Whether the process was started with exactly this `NAME=VALUE` in its environment.
    pub(crate) fn environment_holds(pid: i32, variable: &str) -> bool {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|env| {
            env.split(|byte| *byte == 0)
                .any(|one| one == variable.as_bytes())
        })
    }

    /// `/proc/PID/stat`, proc(5): the name in parentheses may itself hold spaces and parentheses.
    fn parse(pid: i32, stat: &str) -> Option<Entry> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(Entry {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X"),
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
            let stat = "7 (a) b) (c) S 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
            let entry = parse(7, stat).unwrap();
            assert_eq!((entry.parent, entry.group, entry.start), (1, 5, 4242));
            assert!(!entry.zombie);
            assert_eq!(parse(7, "nonsense"), None);
        }
    }
}

/// Through `ps`, for macOS and the like.
#[cfg(not(target_os = "linux"))]
mod other {
    use super::Entry;

    #[expect(
        clippy::disallowed_methods,
        reason = "the process table is this crate's own matter"
    )]
    fn ps(args: &[&str]) -> String {
        std::process::Command::new("/bin/ps")
            .args(args)
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default()
    }

    fn parse(line: &str) -> Option<Entry> {
        let mut fields = line.split_whitespace();
        let (pid, parent, group) = (
            fields.next()?.parse().ok()?,
            fields.next()?.parse().ok()?,
            fields.next()?.parse().ok()?,
        );
        let zombie = fields.next()?.starts_with('Z');
        // `lstart` has second resolution; its text hashed is identity enough with the number.
        let start = fields.flat_map(str::bytes).fold(7_u64, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        Some(Entry {
            pid,
            parent,
            group,
            zombie,
            start,
        })
    }

    pub(crate) fn entry(pid: i32) -> Option<Entry> {
        ps(&[
            "-o",
            "pid=,ppid=,pgid=,state=,lstart=",
            "-p",
            &pid.to_string(),
        ])
        .lines()
        .find_map(parse)
    }

    pub(crate) fn all() -> Vec<Entry> {
        ps(&["-axo", "pid=,ppid=,pgid=,state=,lstart="])
            .lines()
            .filter_map(parse)
            .collect()
    }

    pub(crate) fn environment_holds(pid: i32, variable: &str) -> bool {
        ps(&["-Eww", "-o", "command=", "-p", &pid.to_string()])
            .split_whitespace()
            .any(|word| word == variable)
    }
}
