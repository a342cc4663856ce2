//! Directories whose subdirectories ext4 spreads over the disk.
//!
//! ext4 does not hand out an inode again for some minutes after its file was deleted, and passes each
//! of these one by one when it looks for a free one (`recently_deleted` in its `ialloc.c`). So a checkout
//! that is made near one that was just removed costs a multiple: 57,000 files took 20 s in place of 1.3
//! (kernel 6.18). Beneath a directory with the flag `T` (`chattr(1)`) each new subdirectory begins in
//! another part of the disk.

use std::path::Path;

/// Makes a directory one of these, where the file system knows such a thing. No other is the worse for
/// not knowing it, so no failure is told.
pub(crate) fn spread(dir: &Path) {
    #[cfg(target_os = "linux")]
    let _ = set_flag(dir);
    #[cfg(not(target_os = "linux"))]
    let _ = dir;
}

#[cfg(target_os = "linux")]
fn set_flag(dir: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, ioctl_setflags, open};
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = open(dir, how, Mode::empty())?;
    let flags = ioctl_getflags(&dir)?;
    if flags.contains(IFlags::TOPDIR) {
        return Ok(());
    }
    ioctl_setflags(&dir, flags | IFlags::TOPDIR)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(
        clippy::unwrap_used,
        reason = "a test may panic when the machine does not do what was asked"
    )]

    use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, open, statfs};

    use super::*;

    /// `EXT4_SUPER_MAGIC` of statfs(2).
    const EXT4: i64 = 0xef53;

    fn is_spread(dir: &Path) -> bool {
        let dir = open(dir, OFlags::RDONLY, Mode::empty()).unwrap();
        ioctl_getflags(&dir).is_ok_and(|flags| flags.contains(IFlags::TOPDIR))
    }

    #[test]
    fn it_is_so_on_ext4_and_no_trouble_elsewhere() {
        // Where tests usually write is memory; what was built lies on a disk.
        let built = std::env::current_exe().unwrap();
        for place in [built.parent().unwrap(), &std::env::temp_dir()] {
            let dir = tempfile::tempdir_in(place).unwrap();
            for _ in 0..2 {
                spread(dir.path());
                let known = statfs(dir.path()).unwrap().f_type == EXT4;
                println!("{}: ext4: {known}", place.display());
                assert!(is_spread(dir.path()) || !known);
            }
            spread(&dir.path().join("gone"));
        }
    }
}
