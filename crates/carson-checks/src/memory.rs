//! Memory that is left.

use crate::Verdict;

/// One CLI at its start takes more: below this it would be the one that the kernel ends.
const FLOOR_MIB: u64 = 128;
/// An agent with its tools takes half a gibibyte and more.
const LOW_MIB: u64 = 1024;

pub(crate) async fn available() -> Option<Verdict> {
    let read = std::fs::read_to_string("/proc/meminfo").ok()?;
    available_of(&read).map(judge)
}

/// Mebibytes that programs can still have without swapping.
fn available_of(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

fn judge(mib: u64) -> Verdict {
    let found = format!("{mib} MiB are available");
    match mib {
        ..FLOOR_MIB => Verdict::error(format!("only {found}, and a CLI needs {FLOOR_MIB}")),
        FLOOR_MIB..LOW_MIB => Verdict::warning(found),
        _ => Verdict::ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn what_the_kernel_tells_is_read_and_judged() {
        let told = "MemTotal:       32794616 kB\nMemFree: 1 kB\nMemAvailable:     131072 kB\n";
        assert_eq!(available_of(told), Some(128));
        assert_eq!(available_of("MemTotal: 1 kB\n"), None);
        assert_eq!(judge(127).health, Health::Error);
        assert_eq!(judge(128).health, Health::Warning);
        assert_eq!(judge(1024).health, Health::Ok);
    }
}
