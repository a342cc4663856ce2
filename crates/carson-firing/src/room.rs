//! Whether the home's disk has room for a firing.
//!
//! A worktree and a transcript must fit, and a full disk is where work gets lost. Preflight asks,
//! the daemon asks before it claims anything, and `carson status` says what both would hear.

use carson_config::Fleet;
use nix::sys::statvfs::{FsFlags, statvfs};

/// Files that a disk must still be able to hold.
const FILES_FLOOR: u64 = 1_000;

/// Nothing, or why there is no room, and what to do.
///
/// # Errors
/// When a firing may not start.
pub fn check(fleet: &Fleet) -> Result<(), String> {
    let home = fleet.home.root.display();
    let stat = statvfs(&fleet.home.root).map_err(|error| format!("{home}: {error}"))?;
    if stat.flags().contains(FsFlags::ST_RDONLY) {
        return Err(format!(
            "the disk of {home} cannot be written: it is mounted read-only; look at the kernel's \
             log, and mount it writable again"
        ));
    }
    let free = stat.blocks_available() * stat.fragment_size() / (1024 * 1024);
    let floor = u64::from(fleet.min_free_mb);
    if free < floor {
        return Err(format!(
            "the disk of {home} is nearly full: {free} MiB are free and fleet.min_free_mb is \
             {floor}; make room, or move CARSON_HOME to a larger disk"
        ));
    }
    // Some file systems count no inodes.
    if stat.files() > 0 && stat.files_available() < FILES_FLOOR {
        return Err(format!(
            "the disk of {home} can hold only {} more files; remove some, or move CARSON_HOME",
            stat.files_available()
        ));
    }
    Ok(())
}
