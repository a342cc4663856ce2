//! Where launchers bring the listening sockets of networks that only their sessions have.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use carson_proc::sandbox::{nobody_comes, receive_listener};

use crate::proxy::Egress;

/// How long one wait lasts; another one follows.
const WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Between two attempts to wait at a place that cannot be had.
const PAUSE: Duration = Duration::from_millis(20);

/// A thread that waits for launchers until this is dropped.
pub struct SocketHandover {
    path: PathBuf,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SocketHandover {
    /// Passes on to the proxy what is brought to this path.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn at(path: &Path, egress: &Arc<Egress>) -> io::Result<Self> {
        let closed = Arc::new(AtomicBool::new(false));
        let (place, is_closed, egress) =
            (path.to_owned(), Arc::clone(&closed), Arc::downgrade(egress));
        let work = move || wait(&place, &is_closed, &egress);
        let thread = std::thread::Builder::new().name("socket-handover".into());
        Ok(Self {
            path: path.to_owned(),
            closed,
            thread: Some(thread.spawn(work)?),
        })
    }

    /// Where it waits.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn wait(path: &Path, closed: &AtomicBool, egress: &Weak<Egress>) {
    while !closed.load(Ordering::Acquire) {
        match receive_listener(path, WAIT) {
            Ok(listener) => {
                let Some(egress) = egress.upgrade() else {
                    return;
                };
                egress.listen_on(listener);
            }
            Err(_) if closed.load(Ordering::Acquire) => return,
            Err(error) => {
                tracing::warn!(%error, "no listener of a session came");
                std::thread::sleep(PAUSE);
            }
        }
    }
}

impl Drop for SocketHandover {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // It may be on its way to the place, and not wait there yet.
        let end = std::time::Instant::now() + Duration::from_secs(1);
        if let Some(thread) = self.thread.take() {
            while !thread.is_finished() && std::time::Instant::now() < end {
                nobody_comes(&self.path);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // Only the folder that was made for it goes; a bench is not empty.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.path.parent().map(std::fs::remove_dir);
    }
}
