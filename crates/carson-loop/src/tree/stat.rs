//! Whether a file is the one that was read before, by what the system says of it.

use std::path::Path;

use rustix::fs::Stat;

/// The clock of a file system moves in steps; what changed so short a time before it was read may have
/// changed again within the same step.
const STEP_NS: i64 = 50_000_000;

/// What a file system says of a file, beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Print {
    place: (u64, u64),
    size: u64,
    modified: i64,
    /// Of any kind. Nobody can set it, but by the machine's clock.
    changed: i64,
}

impl Print {
    #[cfg_attr(
        target_os = "linux",
        expect(
            clippy::useless_conversion,
            reason = "the types differ between systems"
        )
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            place: (u64::from(stat.st_dev), u64::from(stat.st_ino)),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn changed(&self) -> i64 {
        self.changed
    }

    /// Whether it changed so long before that an equal one means the same content.
    pub(super) fn is_older_than(&self, looked_at: i64) -> bool {
        self.changed.saturating_add(STEP_NS) < looked_at
    }
}

fn nanos(seconds: impl TryInto<i64>, nanos: impl TryInto<i64>) -> i64 {
    let seconds = seconds.try_into().unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanos.try_into().unwrap_or(0))
}

/// Whether files on this file system show by their times that they were written, also through a mapping into
/// memory. Where that is not known (a tmpfs does not), every file is read each time.
pub(super) fn times_are_kept(dir: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::statfs::{BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, statfs};
        let kept = [EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC];
        statfs(dir).is_ok_and(|found| kept.contains(&found.filesystem_type()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = dir;
        false
    }
}
