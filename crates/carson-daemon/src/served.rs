//! Something that is served at an address, as long as the settings say so.

use std::net::SocketAddr;

use tokio::task::JoinHandle;

/// What is served now. Dropping it ends that.
#[derive(Default)]
pub(crate) struct Served(Option<(SocketAddr, JoinHandle<()>)>);

impl Served {
    /// Serves where it is wanted now.
    pub(crate) fn follow(
        &mut self,
        wanted: Option<SocketAddr>,
        start: impl FnOnce(SocketAddr) -> JoinHandle<()>,
    ) {
        if self.0.as_ref().map(|(at, _)| *at) == wanted {
            return;
        }
        // The old one lets its address go first.
        self.end();
        self.0 = wanted.map(|at| (at, start(at)));
    }

    fn end(&mut self) {
        if let Some((_, task)) = self.0.take() {
            task.abort();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}
