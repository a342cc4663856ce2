//! A request to stop, shared by whoever may ask and whatever must listen.

use std::sync::Arc;

use tokio::sync::watch;

/// Cheap handle; all clones are one. Once cancelled it stays cancelled.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancel {
    /// A handle that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Asks everything that listens to stop.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody has asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody asks; for ever if nobody does.
    pub async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        if receiver.wait_for(|cancelled| *cancelled).await.is_err() {
            // The sender lives in this very handle, so this cannot happen; never is the safe answer.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_clones_are_one_and_it_stays() {
        let cancel = Cancel::new();
        let (early, other) = (cancel.clone(), cancel.clone());
        let waiting = tokio::spawn(async move { early.cancelled().await });
        assert!(!other.is_cancelled());
        cancel.cancel();
        waiting.await.unwrap();
        assert!(other.is_cancelled());
        other.cancelled().await;
    }
}
