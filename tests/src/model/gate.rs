//! A barrier between a test and a reply it holds back.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds replies back until the test opens it; see [`super::Reply::held`]. Clones are one gate.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self {
            open: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Lets every reply through that waits or will wait here.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub(super) async fn passed(&self) {
        let mut open = self.open.subscribe();
        // An error would mean that the sender is gone, and `self` holds it.
        let _ = open.wait_for(|open| *open).await;
    }
}
