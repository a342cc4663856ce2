//! Locks in the mirror that nobody holds.
//!
//! Git removes its locks when it is told to end, not when it is killed or the power goes. Then one
//! file keeps a branch from moving, or everybody from fetching, for ever. All who write in the
//! mirror are git commands of ours, and each has the mirror in its environment, or they are ourselves, who say so
//! ([`writing`]): where nobody of these is, whoever made a lock is dead.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing::warn;

use crate::timeouts::CLONE;

/// Removes the locks that made a command fail, as far as nobody holds them; whether it is worth
/// another try.
pub(crate) fn clear(mirror: &Path, said: &str) -> bool {
    let locks: Vec<PathBuf> = named(said)
        .into_iter()
        .filter(|lock| lock.starts_with(mirror))
        .collect();
    if locks.is_empty() {
        return false;
    }
    // Two who clear at once: the second would remove the lock of whoever came in between.
    let Some(turn) = turn(mirror) else {
        return false;
    };
    if turn.try_lock().is_err() {
        return false;
    }
    let seen: Vec<(PathBuf, Metadata)> = locks
        .into_iter()
        .filter_map(|lock| Some((lock.clone(), lock.symlink_metadata().ok()?)))
        .collect();
    let somebody = is_worked_in(mirror);
    let mut cleared = false;
    for (lock, before) in seen {
        let same = lock
            .symlink_metadata()
            .is_ok_and(|now| now.ino() == before.ino() && now.ctime() == before.ctime());
        if same && (!somebody || is_ancient(&before)) && fs::remove_file(&lock).is_ok() {
            warn!(lock = %lock.display(), "a lock that nobody holds was removed");
            cleared = true;
        }
    }
    cleared
}

/// Held while we ourselves write in the mirror: nobody removes our locks meanwhile. `None` while somebody looks which may go.
pub(crate) fn writing(mirror: &Path) -> Option<File> {
    turn(mirror).filter(|turn| turn.try_lock_shared().is_ok())
}

fn turn(mirror: &Path) -> Option<File> {
    File::create(mirror.with_extension("stale")).ok()
}

/// `Unable to create 'PATH.lock': File exists.`
fn named(said: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = said
        .split("Unable to create '")
        .skip(1)
        .filter_map(|rest| rest.split_once("': File exists"))
        .map(|(path, _)| path)
        .filter(|path| path.ends_with(".lock") && !path.contains("/../"))
        .map(PathBuf::from)
        .collect();
    found.dedup();
    found
}

fn is_worked_in(mirror: &Path) -> bool {
    let Some(mirror) = mirror.to_str() else {
        return true;
    };
    carson_proc::marked_processes("GIT_DIR").contains_key(mirror)
}

/// Older than any command of ours may become.
fn is_ancient(lock: &Metadata) -> bool {
    let age = lock.modified().ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > CLONE + Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "the process that works in the mirror is one that carson-proc did not start"
    )]

    use std::process::Command;

    use super::*;
    use crate::fixture::World;

    #[test]
    fn locks_are_named_by_what_git_says() {
        let said = "error: cannot lock ref 'refs/heads/a': Unable to create '/m/refs/heads/a.lock': File exists.\n\n\
                    Another git process seems to be running\n\
                    fatal: Unable to create '/m/packed-refs.lock': File exists.\n\
                    Unable to create '/m/../x.lock': File exists\nUnable to create '/m/y': File exists";
        let wanted = ["/m/refs/heads/a.lock", "/m/packed-refs.lock"].map(PathBuf::from);
        assert_eq!(named(said), wanted);
    }

    #[tokio::test]
    async fn locks_of_the_dead_keep_nobody_from_fetching_or_keeping_work() {
        let world = World::new().await;
        let mirror = &world.mirror;
        let first = mirror.resolve("main").await.unwrap();
        let second = world.upstream("main", "new.txt", "new");
        for lock in ["packed-refs.lock", "refs/remotes/origin/main.lock"] {
            crate::fixture::write(&mirror.path().join(lock), "");
        }
        let lock = "refs/carson/salvage/one.lock";
        crate::fixture::write(&world.kept().path().join(lock), "");
        assert_eq!(
            world.keep_ref("one", &first).await.unwrap(),
            "refs/carson/salvage/one"
        );
        mirror.refresh().await.unwrap();
        assert_eq!(mirror.resolve("main").await.unwrap(), second);
    }

    #[tokio::test]
    async fn a_lock_stays_while_somebody_works_there() {
        let world = World::new().await;
        let first = world.mirror.resolve("main").await.unwrap();
        let lock = world.kept().path().join("refs/carson/salvage/one.lock");
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        let mut somebody = Command::new("sleep")
            .arg("60")
            .env("GIT_DIR", world.kept().path())
            .spawn()
            .unwrap();
        let kept = world.keep_ref("one", &first).await;
        somebody.kill().unwrap();
        somebody.wait().unwrap();
        assert!(kept.is_err());
        assert!(lock.exists());
    }
}
