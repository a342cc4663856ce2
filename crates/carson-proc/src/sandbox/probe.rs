//! What this machine can do.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::own::own_program;
use crate::sandbox::call::{LAUNCH, PROBE};
#[cfg(target_os = "linux")]
use crate::sandbox::level::Ns;
use crate::sandbox::level::{Level, NO_ANSWER};

/// What is known.
static ANSWER: OnceLock<Level> = OnceLock::new();

/// Takes an answer of another process of ours for our own, where [`circumstances`](super::circumstances()) are the same as
/// there. Every launcher finds out for itself what it reaches: what is believed wrongly is said by the first of them.
pub fn believe(level: Level) {
    let _ = ANSWER.set(level);
}

/// What this machine can do for this user. Asks the launcher; nothing lasting is started. A kernel
/// does not change while we run, so an answer holds for the process.
#[must_use]
pub fn probe() -> Level {
    static ASKING: Mutex<()> = Mutex::new(());
    if let Some(level) = ANSWER.get() {
        return level.clone();
    }
    // Who comes while somebody asks waits for that answer.
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(level) = ANSWER.get() {
        return level.clone();
    }
    match ask() {
        Ok(level) => ANSWER.get_or_init(|| with_cgroup(level)).clone(),
        Err(error) => {
            let mut level = Level::default();
            level.weaken(format!("{NO_ANSWER}{error}"));
            with_cgroup(level)
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the launcher itself, which ends at once; the register keeps it from a sweep"
)]
fn ask() -> std::io::Result<Level> {
    let mut command = std::process::Command::new(launcher());
    command.arg(LAUNCH).arg(PROBE);
    let answer = crate::children::output(command)?;
    serde_json::from_slice(&answer.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&answer.stderr);
        std::io::Error::other(format!("{error}: {}", said.trim()))
    })
}

#[cfg(target_os = "linux")]
fn with_cgroup(mut level: Level) -> Level {
    level.cgroup = crate::sandbox::cgroup::probe();
    if !level.cgroup.pids && !level.has(Ns::User) {
        level.weaken("no control group bounds the number of processes: see Delegate=yes");
    }
    if !level.cgroup.memory {
        level.weaken("no control group: memory is bounded for each process only");
    }
    level
}

#[cfg(not(target_os = "linux"))]
fn with_cgroup(level: Level) -> Level {
    level
}

/// The launcher: the small program of its own where it lies beside our executable, else our
/// executable itself, which does the same and is thirty times as large: starting that is most of
/// what the walls cost.
pub(crate) fn launcher() -> PathBuf {
    let beside = std::env::current_exe().map(|me| me.with_file_name("carson-launch"));
    // Where sessions write, it may be one of theirs.
    let small = beside.ok().and_then(|path| own_program(&path, None));
    small.unwrap_or_else(|| OURSELVES.into())
}

/// Our own executable, also when its file has been replaced.
#[cfg(target_os = "linux")]
const OURSELVES: &str = "/proc/self/exe";
/// Our own executable.
#[cfg(not(target_os = "linux"))]
const OURSELVES: &str = "/usr/local/bin/carson";
