//! When a run must end, whatever it waits for.

use std::time::Duration;

use carson_proc::Cancel;
use tokio::time::{Instant, sleep_until};

use crate::outcome::Stop;

/// A run's end in time, and whoever may ask for it earlier.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// `None` where that is beyond what a clock can show.
    ends_at: Option<Instant>,
    cancel: Cancel,
}

impl Deadline {
    /// So long from now on.
    #[must_use]
    pub fn after(time: Duration, cancel: Cancel) -> Self {
        Self {
            ends_at: Instant::now().checked_add(time),
            cancel,
        }
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.ends_at.map_or(Duration::MAX, left)
    }

    /// What comes of it before the end.
    ///
    /// # Errors
    /// When the end comes first; what was waited for is given up.
    pub async fn hold<T>(&self, doing: impl Future<Output = T>) -> Result<T, Stop> {
        let over = async {
            match self.ends_at {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = doing => Ok(done),
            () = over => Err(Stop::WallClock),
            () = self.cancel.cancelled() => Err(Stop::Interrupted),
        }
    }
}
