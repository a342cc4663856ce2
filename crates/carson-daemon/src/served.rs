//! Something that is served at an address, as long as the settings say so.

use std::net::SocketAddr;

use tokio::task::JoinHandle;

use crate::faces::Tell;

/// What is served now. Dropping it ends that.
pub(crate) struct Served {
    now: Option<(SocketAddr, JoinHandle<()>)>,
    tell: Tell,
}

impl Served {
    /// Nothing yet; whether its address can be had is told.
    pub(crate) fn telling(tell: Tell) -> Self {
        Self { now: None, tell }
    }

    /// Serves where it is wanted now.
    pub(crate) fn follow(
        &mut self,
        wanted: Option<SocketAddr>,
        start: impl FnOnce(SocketAddr, Tell) -> JoinHandle<()>,
    ) {
        if self.now.as_ref().map(|(at, _)| *at) == wanted {
            return;
        }
        // The old one lets its address go first.
        self.end();
        (self.tell)(None);
        let tell = self.tell.clone();
        self.now = wanted.map(|at| (at, start(at, tell)));
    }

    fn end(&mut self) {
        if let Some((_, task)) = self.now.take() {
            task.abort();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}
