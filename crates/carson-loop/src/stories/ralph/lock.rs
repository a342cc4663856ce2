//! `.runtime/.run.lock`: a directory that only one can make, with the number of its owner's process in `pid`.
//!
//! It is ralph-loop's own protocol, so that a `ralph.sh` and this run never work at the same time. An owner that
//! is gone is taken over; a lock without an owner is so after a while, because its owner may be about to write
//! its number down.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use carson_core::Clock;
use carson_proc::Cancel;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::ended::Ended;
use crate::own_file;

/// Seconds that somebody waits for it.
const PATIENCE: u32 = 300;
/// Bytes of the file that says who has it.
const PID: u64 = 64;

/// Held for as long as this lives.
#[derive(Debug)]
pub struct RunLock {
    dir: PathBuf,
}

/// Who has it, or may have it.
#[derive(Debug, PartialEq, Eq)]
enum Holder {
    /// A process that lives.
    Lives(i32),
    /// Nobody any more.
    Gone,
    /// Somebody who has not said who.
    Unnamed,
}

impl RunLock {
    /// Takes it, and waits for it for five minutes, which is told once. `stale` is how old a lock without an owner must
    /// be.
    ///
    /// # Errors
    /// When somebody has it all the time, the disk says no, or the run is to end.
    pub async fn take(
        state: &Path,
        stale: Duration,
        clock: &Clock,
        cancel: &Cancel,
        told: &mut dyn FnMut(&str),
    ) -> Result<Self, Ended> {
        let dir = state.join(".run.lock");
        if dir.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            let dir = dir.display();
            return Err(Ended::Failed(format!(
                "The run lock is a link: {dir} (take it away)"
            )));
        }
        let mut waited = 0;
        loop {
            match fs::create_dir(&dir) {
                Ok(()) => return Self::named(dir),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Ended::because("make the run lock", &dir, &error)),
            }
            let holder = holder(&dir, stale, clock);
            if holder == Holder::Gone {
                remove(&dir);
                // Were it not removed, this would turn for ever.
                if !dir.exists() {
                    continue;
                }
            }
            if waited == 0 {
                told(&format!("{}: it is waited for", taken(&dir, &holder)));
            }
            waited += 1;
            if waited >= PATIENCE {
                return Err(Ended::Failed(taken(&dir, &holder)));
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
                () = cancel.cancelled() => return Err(Ended::Interrupted),
            }
        }
    }

    fn named(dir: PathBuf) -> Result<Self, Ended> {
        let lock = Self { dir };
        let pid = lock.dir.join("pid");
        fs::write(&pid, format!("{}\n", std::process::id()))
            .map_err(Ended::io("write the run lock", &pid))?;
        Ok(lock)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // One that somebody else has taken over is his.
        let ours = i32::try_from(std::process::id()).ok();
        if owner(&self.dir) == ours {
            remove(&self.dir);
        }
    }
}

fn taken(dir: &Path, holder: &Holder) -> String {
    let pid = match holder {
        Holder::Lives(pid) => pid.to_string(),
        Holder::Gone | Holder::Unnamed => "unknown".to_owned(),
    };
    format!(
        "Another ralph run holds lock at {} (pid={pid})",
        dir.display()
    )
}

fn remove(dir: &Path) {
    let _ = fs::remove_file(dir.join("pid"));
    let _ = fs::remove_dir(dir);
}

fn owner(dir: &Path) -> Option<i32> {
    let text = own_file::read(&dir.join("pid"), PID).ok()??;
    let text = std::str::from_utf8(&text).ok()?;
    text.trim().parse().ok().filter(|pid| *pid > 0)
}

fn holder(dir: &Path, stale: Duration, clock: &Clock) -> Holder {
    if let Some(pid) = owner(dir) {
        // One of somebody else's answers that it is not ours to ask.
        return match kill(Pid::from_raw(pid), None) {
            Ok(()) | Err(Errno::EPERM) => Holder::Lives(pid),
            Err(_) => Holder::Gone,
        };
    }
    let made = fs::metadata(dir).and_then(|found| found.modified());
    let now = SystemTime::from(clock.now());
    match made.map(|made| now.duration_since(made).unwrap_or_default()) {
        Ok(age) if age < stale => Holder::Unnamed,
        Ok(_) => Holder::Gone,
        Err(_) => Holder::Unnamed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_seconds(seconds: i64) -> Clock {
        Clock::manual(Clock::system().now() + chrono::Duration::seconds(seconds))
    }

    #[test]
    fn who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join(".run.lock");
        let stale = Duration::from_secs(30);
        let holder = |clock: &Clock| holder(&lock, stale, clock);
        assert_eq!(
            holder(&in_seconds(0)),
            Holder::Unnamed,
            "it is about to be made, or gone"
        );
        fs::create_dir(&lock).unwrap();
        assert_eq!(holder(&in_seconds(20)), Holder::Unnamed);
        assert_eq!(holder(&in_seconds(40)), Holder::Gone);
        assert_eq!(
            holder(&in_seconds(-40)),
            Holder::Unnamed,
            "a clock that was set back"
        );
        for (text, right) in [
            (
                format!("{}\n", std::process::id()),
                Holder::Lives(std::process::id().try_into().unwrap()),
            ),
            ("1\n".to_owned(), Holder::Lives(1)),
            ("2147483000\n".to_owned(), Holder::Gone),
            ("-1\n".to_owned(), Holder::Unnamed),
            ("who\n".to_owned(), Holder::Unnamed),
        ] {
            fs::write(lock.join("pid"), &text).unwrap();
            assert_eq!(holder(&in_seconds(0)), right, "{text:?}");
        }
    }

    #[tokio::test]
    async fn one_at_a_time_and_never_anothers() {
        let dir = tempfile::tempdir().unwrap();
        let (state, cancel, clock) = (dir.path(), Cancel::new(), in_seconds(0));
        let said = std::cell::RefCell::new(Vec::new());
        let take = async || {
            let mut told = |waits: &str| said.borrow_mut().push(waits.to_owned());
            RunLock::take(state, Duration::from_secs(30), &clock, &cancel, &mut told).await
        };
        let lock = take().await.unwrap();
        assert_eq!(owner(&lock.dir), i32::try_from(std::process::id()).ok());
        drop(lock);
        assert!(!state.join(".run.lock").exists());

        // One of a process that is gone is taken over.
        fs::create_dir(state.join(".run.lock")).unwrap();
        fs::write(state.join(".run.lock/pid"), "2147483000\n").unwrap();
        let lock = take().await.unwrap();
        // And one that somebody else took over is left alone.
        fs::write(state.join(".run.lock/pid"), "1\n").unwrap();
        drop(lock);
        assert!(state.join(".run.lock").exists());
        assert!(said.borrow().is_empty());

        let waiting = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let (ended, ()) = tokio::join!(take(), waiting);
        assert_eq!(ended.unwrap_err(), Ended::Interrupted);
        assert!(state.join(".run.lock/pid").exists());
        let said = said.into_inner();
        assert!(
            said.len() == 1 && said[0].ends_with("(pid=1): it is waited for"),
            "{said:?}"
        );
    }
}
