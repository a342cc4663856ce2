//! A disk that can be had as it was at one moment.
//!
//! The disk is an image with ext4 in it. The image lies on a file system that copies in no time
//! and at once (btrfs, in an image of its own), so a copy is what a disk holds when the power
//! goes: everything that was written, in the order in which the kernel wrote it, and nothing of
//! what it still had in memory. What it cannot show is a disk that loses its own cache.
//!
//! All mounts are in a mount namespace of the test's thread and of what it starts, and the loop
//! devices go with their mounts: nothing outlives a test that is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use carson_tests::until;
use nix::sched::{CloneFlags, unshare};
use tempfile::TempDir;

use crate::tool;

pub(crate) struct Disk {
    /// Where it is mounted.
    at: PathBuf,
    /// Mounted in a directory of the disk, from elsewhere.
    bound: Vec<(PathBuf, PathBuf)>,
    images: TempDir,
    copies: u32,
}

impl Disk {
    /// Mounts a new disk over a directory, with what is in the directory on it.
    pub(crate) fn over(at: &Path) -> Self {
        unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace needs root");
        tool(&["mount", "--make-rprivate", "/"]);
        let images = tempfile::tempdir().unwrap();
        let outer = images.path().join("outer.img");
        tool(&["truncate", "--size=4G", text(&outer)]);
        tool(&["mkfs.btrfs", "--quiet", text(&outer)]);
        let disk = Self {
            at: at.to_owned(),
            bound: Vec::new(),
            images,
            copies: 0,
        };
        fs::create_dir(disk.shelf()).unwrap();
        tool(&["mount", "-o", "loop", text(&outer), text(&disk.shelf())]);
        let image = disk.image();
        tool(&["truncate", "--size=1G", text(&image)]);
        tool(&["mkfs.ext4", "-q", "-F", text(&image)]);
        let seed = disk.images.path().join("seed");
        tool(&["cp", "--archive", text(at), text(&seed)]);
        disk.mount();
        tool(&["cp", "--archive", &format!("{}/.", text(&seed)), text(at)]);
        tool(&["sync", "--file-system", text(at)]);
        disk
    }

    /// Mounts a directory of elsewhere into the disk, now and after every cut.
    pub(crate) fn bind(&mut self, from: &Path, to: &Path) {
        self.bound.push((from.to_owned(), to.to_owned()));
        mount_bound(from, to);
    }

    /// The power goes: what is on the disk now is all that there is. Whoever used it must be dead.
    pub(crate) fn cut(&mut self) {
        let before = self.image();
        self.copies += 1;
        tool(&["cp", "--reflink=always", text(&before), text(&self.image())]);
        // This writes what was in memory, to the disk that nobody looks at any more.
        self.unmount();
        fs::remove_file(before).unwrap();
        self.mount();
        for (from, to) in &self.bound {
            mount_bound(from, to);
        }
    }

    fn shelf(&self) -> PathBuf {
        self.images.path().join("shelf")
    }

    fn image(&self) -> PathBuf {
        self.shelf().join(format!("disk-{}.img", self.copies))
    }

    fn mount(&self) {
        tool(&["mount", "-o", "loop", text(&self.image()), text(&self.at)]);
    }

    fn unmount(&self) {
        let inside = self.bound.iter().rev().map(|(_, to)| to);
        for place in inside.chain([&self.at]) {
            until("the disk to be free", || {
                let done = Command::new("umount").arg(place).output().unwrap();
                done.status.success().then_some(())
            });
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for place in [&self.at, &self.shelf()] {
            let _ = Command::new("umount")
                .args(["--recursive", "--lazy"])
                .arg(place)
                .output();
        }
    }
}

fn mount_bound(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    tool(&["mount", "--bind", text(from), text(to)]);
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
