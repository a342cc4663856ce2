//! Whether the home's disks have room for a firing.
//!
//! A worktree and a transcript must fit, and a full disk is where work gets lost. Preflight asks,
//! the daemon asks before it claims anything, and `carson status` says what both would hear.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use carson_config::Fleet;
use nix::sys::statvfs::{FsFlags, statvfs};

/// Files that a disk must still be able to hold.
pub const FILES_FLOOR: u64 = 1_000;

/// What there is of one disk.
#[derive(Debug)]
pub struct Room {
    /// A place on it.
    pub place: PathBuf,
    /// What is free, in MiB.
    pub free_mib: u64,
    /// Nothing where the file system does not count.
    pub free_files: Option<u64>,
    /// Whether nothing can be written.
    pub read_only: bool,
}

/// What is missing, and what to do.
#[derive(Debug)]
pub struct Lack {
    /// What is missing.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

impl Lack {
    fn new(found: String, remedy: &str) -> Self {
        Self {
            found,
            remedy: remedy.to_owned(),
        }
    }
}

/// The disks of the home and, where it is another, of the benches, which comes last.
pub fn disk_rooms(fleet: &Fleet) -> Result<Vec<Room>, Lack> {
    let (root, benches) = (&fleet.layout.root, fleet.layout.benches());
    let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
    let mut rooms = vec![Room::at(root)?];
    if device(&benches).is_some_and(|one| Some(one) != device(root)) {
        rooms.push(Room::at(&benches)?);
    }
    Ok(rooms)
}

impl Room {
    fn at(place: &Path) -> Result<Self, Lack> {
        let stat = statvfs(place).map_err(|error| {
            Lack::new(
                format!("{}: {error}", place.display()),
                "check that CARSON_HOME is there",
            )
        })?;
        Ok(Self {
            place: place.to_owned(),
            free_mib: stat.blocks_available() * stat.fragment_size() / (1024 * 1024),
            free_files: (stat.files() > 0).then(|| stat.files_available()),
            read_only: stat.flags().contains(FsFlags::ST_RDONLY),
        })
    }

    /// Whether anything can be written.
    ///
    /// # Errors
    /// When nothing can.
    pub fn is_writable(&self) -> Result<(), Lack> {
        let place = self.place.display();
        if !self.read_only {
            return Ok(());
        }
        Err(Lack::new(
            format!("the disk of {place} cannot be written: it is mounted read-only"),
            "look at the kernel's log, and mount it writable again",
        ))
    }

    /// Whether so many MiB are free.
    ///
    /// # Errors
    /// When they are not.
    pub fn has_space(&self, floor: u32) -> Result<(), Lack> {
        let (place, free) = (self.place.display(), self.free_mib);
        if free >= u64::from(floor) {
            return Ok(());
        }
        Err(Lack::new(
            format!(
                "the disk of {place} is nearly full: {free} MiB are free and fleet.min_free_mb is \
                 {floor}"
            ),
            "make room, or move CARSON_HOME to a larger disk",
        ))
    }

    /// Whether it can hold more files.
    ///
    /// # Errors
    /// When it cannot.
    pub fn takes_files(&self) -> Result<(), Lack> {
        match self.free_files {
            Some(free) if free < FILES_FLOOR => Err(Lack::new(
                format!(
                    "the disk of {} can hold only {free} more files",
                    self.place.display()
                ),
                "remove some, or move CARSON_HOME",
            )),
            _ => Ok(()),
        }
    }
}

/// Nothing, or why there is no room, and what to do.
///
/// # Errors
/// When a firing may not start.
pub fn check(fleet: &Fleet) -> Result<(), String> {
    let look = |room: &Room| {
        room.is_writable()?;
        room.has_space(fleet.min_free_mb)?;
        room.takes_files()
    };
    let looked = disk_rooms(fleet).and_then(|rooms| rooms.iter().try_for_each(look));
    looked.map_err(|lack| format!("{}; {}", lack.found, lack.remedy))
}
