//! The last of the home's disk, held back in a file. It is let go once a session has taken everything else and is over:
//! what its firing made can still be looked at and kept, and its row be written.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use carson_config::Fleet;

use crate::disk_space::disk_rooms;

/// MiB that are held back.
const RESERVE: u64 = 16;
/// They are at most this part of what is free: on a small disk nothing is.
const PART: u64 = 8;
/// With fewer MiB, or fewer files, rows can hardly be written.
const SCARCE: u64 = RESERVE / 2;
const FEW_FILES: u64 = 100;

/// Whether there is next to nothing left on one of the disks.
#[must_use]
pub fn is_scarce(fleet: &Fleet) -> bool {
    disk_rooms(fleet).is_ok_and(|rooms| {
        rooms.iter().any(|room| {
            let few = room.free_files.is_some_and(|free| free < FEW_FILES);
            room.free_mib < SCARCE || few
        })
    })
}

/// Holds the reserve back, where it is not and the disk has plenty.
///
/// # Errors
/// When the file cannot be made; nothing is left of it then.
pub fn hold(fleet: &Fleet) -> io::Result<()> {
    let file = file(fleet);
    let has_plenty = || {
        let rooms = disk_rooms(fleet).unwrap_or_default();
        let home = rooms.first();
        home.is_some_and(|room| room.free_mib >= RESERVE * PART)
    };
    if file.exists() || !has_plenty() {
        return Ok(());
    }
    let made = File::create(&file).and_then(|made| take(&made));
    made.inspect_err(|_| {
        let _ = fs::remove_file(&file);
    })
}

/// Lets it go; whether there was one.
#[must_use]
pub fn release(fleet: &Fleet) -> bool {
    fs::remove_file(file(fleet)).is_ok()
}

fn file(fleet: &Fleet) -> PathBuf {
    fleet.layout.state().join("disk-reserve")
}

#[cfg(target_os = "linux")]
fn take(file: &File) -> io::Result<()> {
    use nix::fcntl::{FallocateFlags, fallocate};
    let bytes = i64::try_from(RESERVE << 20).map_err(io::Error::other)?;
    Ok(fallocate(file, FallocateFlags::empty(), 0, bytes)?)
}

#[cfg(not(target_os = "linux"))]
fn take(mut file: &File) -> io::Result<()> {
    use io::Read as _;
    let mut zeros = io::repeat(0).take(RESERVE << 20);
    io::copy(&mut zeros, &mut file).map(drop)
}
