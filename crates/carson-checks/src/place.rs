//! Where the home lies: whose it is, and on what kind of file system.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::{Scene, Verdict};

/// Others who may write here name the programs that Carson runs.
const WRITABLE_BY_OTHERS: u32 = 0o022;

pub(crate) async fn private(scene: &Scene<'_>) -> Option<Verdict> {
    let layout = &scene.home.fleet.layout;
    let places = [
        layout.root.clone(),
        layout.settings(),
        layout.roles(),
        layout.state(),
    ];
    let open = places.iter().find_map(|place| {
        let mode = place.metadata().ok()?.permissions().mode() & 0o7777;
        (mode & WRITABLE_BY_OTHERS != 0).then_some((place, mode))
    });
    Some(match open {
        None => Verdict::ok("only its owner can change it"),
        Some((place, mode)) => {
            let place = place.display();
            let found = format!("{place} can be changed by others (mode {mode:04o})");
            Verdict::error(found).mend(format!("chmod go-w {place}"))
        }
    })
}

pub(crate) async fn writable(scene: &Scene<'_>) -> Option<Verdict> {
    let layout = &scene.home.fleet.layout;
    let places = [
        layout.state(),
        layout.mirrors(),
        layout.kept(),
        layout.benches(),
        layout.logs(),
        layout.root.join("transcripts"),
        layout.root.join("forge"),
    ];
    let closed = places.iter().find_map(|place| closed(place));
    Some(match closed {
        None => Verdict::ok(format!("{} can be written", layout.root.display())),
        Some(why) => Verdict::error(why),
    })
}

/// Why nothing can be written there. What is not there yet is made when it is needed, below what is.
fn closed(place: &Path) -> Option<String> {
    let there: PathBuf = place
        .ancestors()
        .find(|place| place.symlink_metadata().is_ok())?
        .to_owned();
    let shown = there.display();
    if !there.is_dir() {
        return Some(format!("{shown} is no directory"));
    }
    let rights = AccessFlags::W_OK | AccessFlags::X_OK;
    let denied = access(&there, rights).err()?;
    Some(format!("{shown} cannot be written: {}", denied.desc()))
}

pub(crate) async fn filesystem(scene: &Scene<'_>) -> Option<Verdict> {
    let layout = &scene.home.fleet.layout;
    let places = [layout.root.clone(), layout.benches()];
    let found = places.iter().filter_map(|place| {
        let kind = kind(place)?;
        Some(judge(kind, &place.display().to_string()))
    });
    found.max_by_key(|verdict| verdict.health)
}

/// The name of what a directory lies on.
fn judge(kind: &str, place: &str) -> Verdict {
    let found = format!("{place} lies on {kind}");
    match kind {
        "nfs" | "smb" | "cifs" | "9p" | "afs" | "ceph" | "lustre" | "gpfs" | "coda" => {
            Verdict::error(format!(
                "{found}, over a network: locks, renames and the database's log do not hold there"
            ))
        }
        "fuse" => Verdict::warning(format!(
            "{found}: whether locks hold there depends on its program"
        )),
        "tmpfs" => Verdict::warning(format!("{found}: it is gone after a reboot")),
        "overlay" => Verdict::warning(format!(
            "{found}: it goes with its container, unless a volume is mounted there"
        )),
        _ => Verdict::ok(found),
    }
}

#[cfg(target_os = "linux")]
fn kind(place: &Path) -> Option<&'static str> {
    let kind = nix::sys::statfs::statfs(place).ok()?.filesystem_type().0;
    // The number has 32 bits, also where its type has more and a sign.
    let magic = u32::try_from(i128::from(kind) & 0xFFFF_FFFF).ok()?;
    Some(match magic {
        0x6969 => "nfs",
        0x517B | 0xFE53_4D42 => "smb",
        0xFF53_4D42 => "cifs",
        0x0102_1997 => "9p",
        0x5346_414F | 0x6B41_4653 => "afs",
        0x00C3_6400 => "ceph",
        0x0BD0_0BD0 => "lustre",
        0x4750_4653 => "gpfs",
        0x7375_7245 => "coda",
        0x6573_5546 => "fuse",
        0x0102_1994 | 0x8584_58F6 => "tmpfs",
        0x794C_7630 => "overlay",
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0x2FC1_2FC1 => "zfs",
        _ => "a local file system",
    })
}

#[cfg(not(target_os = "linux"))]
fn kind(place: &Path) -> Option<&'static str> {
    let stat = nix::sys::statfs::statfs(place).ok()?;
    let name = stat.filesystem_type_name();
    Some(match name {
        "nfs" => "nfs",
        "smbfs" => "smb",
        "afpfs" => "afs",
        _ if name.contains("fuse") => "fuse",
        _ => "a local file system",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn networks_are_refused_and_what_goes_away_is_told() {
        for (kind, health) in [
            ("nfs", Health::Error),
            ("9p", Health::Error),
            ("fuse", Health::Warning),
            ("tmpfs", Health::Warning),
            ("overlay", Health::Warning),
            ("ext4", Health::Ok),
            ("a local file system", Health::Ok),
        ] {
            assert_eq!(judge(kind, "/x").health, health, "{kind}");
        }
    }

    #[test]
    fn the_kernel_says_what_a_place_lies_on() {
        assert!(kind(Path::new("/")).is_some());
        assert_eq!(kind(Path::new("/nowhere/at-all")), None);
        if cfg!(target_os = "linux") && Path::new("/dev/shm").is_dir() {
            assert_eq!(kind(Path::new("/dev/shm")), Some("tmpfs"));
        }
    }

    #[test]
    fn a_file_in_the_place_of_a_directory_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(closed(&dir.path().join("not/yet")), None);
        std::fs::write(dir.path().join("state"), "").unwrap();
        let why = closed(&dir.path().join("state/deep")).unwrap();
        assert!(why.contains("state is no directory"), "{why}");
    }
}
