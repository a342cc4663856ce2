//! The process table.

#[cfg(target_os = "linux")]
mod proc_fs;
// Tested everywhere, so that macOS is not left to luck.
#[cfg(any(test, not(target_os = "linux")))]
mod ps;

#[cfg(target_os = "linux")]
pub(crate) use proc_fs::{all, entry, environment, has_locked, start_of_child, youngest};
#[cfg(not(target_os = "linux"))]
pub(crate) use ps::{all, entry, environment, has_locked, start_of_child, youngest};

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub zombie: bool,
    /// Grows with time: clock ticks since boot on Linux, seconds elsewhere.
    pub start: u64,
}

/// The value of a variable in an environment of NUL-terminated `NAME=VALUE`.
pub(crate) fn value<'e>(environment: &'e [u8], name: &[u8]) -> Option<&'e [u8]> {
    environment
        .split(|byte| *byte == 0)
        .find_map(|one| one.strip_prefix(name)?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = b"XAB=1\0ABC=2\0AB=3=4\0AB\0";
        assert_eq!(value(environment, b"AB"), Some(b"3=4".as_slice()));
        assert_eq!(value(environment, b"B"), None);
    }
}
