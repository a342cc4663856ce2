//! Whether a file is the one that an index describes, by what the system says of it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use git2::{IndexEntry, IndexTime};

/// The clock of a file system moves in steps; what changed so short a time before the index was
/// written may have changed again within the same step.
pub(super) const STEP: Duration = Duration::from_millis(50);

/// Whether files on this file system show by their times that they were written, also through a
/// mapping into memory. Where that is not known (a tmpfs does not), every file is read.
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

/// The time, in seconds and nanoseconds, before which a file must have changed last to be judged by
/// an index that was written as `index` says.
pub(super) fn before(index: &Metadata) -> (i64, i64) {
    let nanos = index.mtime_nsec() - i64::from(STEP.subsec_nanos());
    match nanos < 0 {
        true => (index.mtime() - 1, nanos + 1_000_000_000),
        false => (index.mtime(), nanos),
    }
}

/// Whether the file is as the index has it. The time of its last change of any kind decides: a
/// session can set all others.
pub(super) fn is_same(entry: &IndexEntry, found: &Metadata, before: (i64, i64)) -> bool {
    let same = |time: &IndexTime, seconds: i64, nanos: i64| {
        time.seconds() == low(seconds).cast_signed() && i64::from(time.nanoseconds()) == nanos
    };
    let (mode, link) = (found.mode(), found.is_symlink());
    let kind = match entry.mode {
        0o120_000 => link,
        0o100_755 => found.is_file() && mode & 0o100 != 0,
        0o100_644 => found.is_file() && mode & 0o100 == 0,
        _ => false,
    };
    kind && (found.ctime(), found.ctime_nsec()) < before
        && same(&entry.ctime, found.ctime(), found.ctime_nsec())
        && same(&entry.mtime, found.mtime(), found.mtime_nsec())
        && entry.ino == low(found.ino().cast_signed())
        && entry.dev == low(found.dev().cast_signed())
        && (entry.uid, entry.gid) == (found.uid(), found.gid())
        && entry.file_size == low(found.size().cast_signed())
}

/// Puts what the system says of a file into an entry of an index.
pub(super) fn describe(entry: &mut IndexEntry, found: &Metadata) {
    let time = |seconds: i64, nanos: i64| {
        let nanos = u32::try_from(nanos).unwrap_or_default();
        IndexTime::new(low(seconds).cast_signed(), nanos)
    };
    entry.ctime = time(found.ctime(), found.ctime_nsec());
    entry.mtime = time(found.mtime(), found.mtime_nsec());
    entry.ino = low(found.ino().cast_signed());
    entry.dev = low(found.dev().cast_signed());
    (entry.uid, entry.gid) = (found.uid(), found.gid());
    entry.file_size = low(found.size().cast_signed());
}

/// The index has 32 bits for each of these.
fn low(value: i64) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(u32::MAX)
}
