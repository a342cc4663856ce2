//! Our own direct children, and those that are handed to us.
//!
//! A subreaper's orphans and its own children look the same in the process table. So every child is
//! registered from before it can be seen until it has been reaped; any other is an orphan.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::process::{Child, Command};

use crate::process_id::ProcessId;
use crate::table;

static RUNNING: Mutex<BTreeMap<i32, u64>> = Mutex::new(BTreeMap::new());

fn running_now() -> MutexGuard<'static, BTreeMap<i32, u64>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child's place in the register, until this is dropped.
#[derive(Debug)]
pub(crate) struct Registered(pub ProcessId);

impl Drop for Registered {
    fn drop(&mut self) {
        // Once it has been reaped, its number may be that of another child of ours.
        let mut running = running_now();
        if running.get(&self.0.pid) == Some(&self.0.start) {
            running.remove(&self.0.pid);
        }
    }
}

/// Starts a child and registers it.
///
/// The register is locked meanwhile. Whoever reads first the process table and then the register
/// finds in the register every child of ours that is in the table: a child that is taken for an
/// orphan would be killed.
pub(crate) fn spawn(builder: &mut Command) -> io::Result<(Child, Registered)> {
    without_a_copy();
    let mut running = running_now();
    let child = builder.spawn()?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .ok_or_else(|| io::Error::other("the child has no number"))?;
    let start = table::start_of_child(pid);
    running.insert(pid, start);
    Ok((child, Registered(ProcessId { pid, start })))
}

/// Lets a static program start its children by `posix_spawn`, as others do.
///
/// The standard library looks for this function by a weak reference, for whoever names a working directory, and forks
/// where there is none. A weak reference takes nothing from a static libc, so there would never be one; this takes it.
fn without_a_copy() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    std::hint::black_box(libc::posix_spawn_file_actions_addchdir_np as *const ());
}

/// Runs a child that ends by itself at once, and registers it meanwhile.
pub(crate) fn output(mut command: std::process::Command) -> io::Result<std::process::Output> {
    use std::process::Stdio;
    without_a_copy();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = running_now();
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let start = table::start_of_child(pid);
    running.insert(pid, start);
    drop(running);
    let registered = Registered(ProcessId { pid, start });
    let output = child.wait_with_output();
    drop(registered);
    output
}

/// The children that run: number and start.
pub(crate) fn running() -> BTreeMap<i32, u64> {
    running_now().clone()
}

/// Makes orphaned descendants ours instead of init's, so that none can hide from the sweep.
///
/// From then on every child of this process must be started by this crate: any other is taken for
/// an orphan by the next sweep, and killed.
///
/// # Errors
/// What the kernel says. Systems without subreapers answer `Ok`.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    Ok(())
}

/// Whether orphans are handed to us.
pub(crate) fn are_orphans_ours() -> bool {
    #[cfg(target_os = "linux")]
    let subreaper = nix::sys::prctl::get_child_subreaper().unwrap_or(false);
    #[cfg(not(target_os = "linux"))]
    let subreaper = false;
    subreaper
}

/// Whether nothing descends from us any more: no child of ours is left, alive or dead, and every orphan below us
/// would be one.
pub(crate) fn none_are_left() -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::errno::Errno;
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        are_orphans_ours() && waitid(Id::All, look) == Err(Errno::ECHILD)
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    static FORKS: AtomicU32 = AtomicU32::new(0);

    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::SeqCst);
    }

    /// `posix_spawn` calls none of the handlers of a fork (POSIX).
    #[expect(unsafe_code, reason = "a call of libc")]
    fn count_forks() {
        // SAFETY: the handler only counts.
        let done = unsafe { libc::pthread_atfork(Some(count), None, None) };
        assert_eq!(done, 0);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how this crate itself starts one"
    )]
    #[tokio::test]
    async fn no_child_begins_as_a_copy_of_us() {
        count_forks();
        let mut builder = tokio::process::Command::new("/bin/true");
        builder.current_dir("/").process_group(0);
        let (mut child, _registered) = super::spawn(&mut builder).unwrap();
        assert!(child.wait().await.unwrap().success());
        let mut command = std::process::Command::new("/bin/true");
        command.current_dir("/");
        let done = super::output(command).unwrap();
        assert!(done.status.success());
        assert_eq!(FORKS.load(Ordering::SeqCst), 0);
    }
}
