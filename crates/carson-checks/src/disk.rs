//! Room on the disks of the home.

use carson_config::Repo;

use crate::measured::checkout_of;
use crate::{Scene, Verdict};
use carson_home::disk_space::{self, FILES_FLOOR, Lack, Room};

/// How often the size of a checkout must fit: itself, and what is built in it.
const TIMES: u64 = 2;

pub(crate) async fn writable(scene: &Scene<'_>) -> Option<Verdict> {
    each(scene, Room::is_writable, "it can be written")
}

pub(crate) async fn space(scene: &Scene<'_>) -> Option<Verdict> {
    let floor = scene.home.fleet.min_free_mb;
    let fine = format!("more than fleet.min_free_mb ({floor}) MiB are free");
    each(scene, |room| room.has_space(floor), &fine)
}

pub(crate) async fn files(scene: &Scene<'_>) -> Option<Verdict> {
    each(scene, Room::takes_files, "it can hold more files")
}

/// Of the home's disk, and of that of the benches where it is another.
fn each(
    scene: &Scene<'_>,
    look: impl Fn(&Room) -> Result<(), Lack>,
    fine: &str,
) -> Option<Verdict> {
    let looked =
        disk_space::disk_rooms(&scene.home.fleet).and_then(|rooms| rooms.iter().try_for_each(look));
    Some(match looked {
        Ok(()) => Verdict::ok(fine),
        Err(lack) => Verdict::error(lack.found).mend(lack.remedy),
    })
}

pub(crate) async fn checkout(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    if scene.database.is_some() {
        return None;
    }
    let Some((files, bytes)) = checkout_of(scene, repo).await else {
        return Some(Verdict::ok("it was not checked out here yet"));
    };
    let room = disk_space::disk_rooms(&scene.home.fleet).ok()?.pop()?;
    Some(fits(&room, scene.home.fleet.min_free_mb, files, bytes))
}

fn fits(room: &Room, floor: u32, files: u64, bytes: u64) -> Verdict {
    let mib = bytes.div_ceil(1024 * 1024);
    let size = format!("{files} files and {mib} MiB are a checkout of it");
    let needed = mib * TIMES + u64::from(floor);
    if room.free_mib < needed {
        let free = room.free_mib;
        return Verdict::error(format!("{size}; {free} MiB are free, {needed} are needed"));
    }
    let needed = files * TIMES + FILES_FLOOR;
    match room.free_files {
        Some(free) if free < needed => Verdict::error(format!(
            "{size}; the disk can hold {free} more files, {needed} are needed"
        )),
        _ => Verdict::ok(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn a_checkout_must_fit_twice_above_the_floors() {
        let health = |free_mib, free_files, files, mib: u64| {
            let room = Room {
                place: "/".into(),
                free_mib,
                free_files,
                read_only: false,
            };
            fits(&room, 100, files, mib * 1024 * 1024).health
        };
        assert_eq!(health(300, None, 10, 100), Health::Ok);
        assert_eq!(health(299, None, 10, 100), Health::Error);
        assert_eq!(health(300, Some(3_000), 1_000, 100), Health::Ok);
        assert_eq!(health(300, Some(2_999), 1_000, 100), Health::Error);
    }
}
