//! How git is asked of a repository that somebody else wrote.

/// Settings by which nothing that the repository configured runs: no monitor, no hook, no program for a missing object or a
/// diff, no housekeeping.
pub(crate) const NOTHING_RUNS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "protocol.allow=never",
    "gc.auto=0",
    "diff.external=",
];
