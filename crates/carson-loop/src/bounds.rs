//! Whether another attempt is made: pure.

use std::time::Duration;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another attempt.
    Attempt,
    /// All attempts were made.
    Exhausted,
    /// The whole time is over.
    TimedOut,
}

/// How much may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Attempts.
    pub max_attempts: u32,
    /// Time of everything together; `None` where somebody else keeps it.
    pub total: Option<Duration>,
}

impl Bounds {
    /// What comes after so many attempts in so much time, none of which was enough.
    #[must_use]
    pub fn after(&self, attempts: u32, elapsed: Duration) -> Next {
        match self.total {
            _ if attempts >= self.max_attempts => Next::Exhausted,
            Some(total) if elapsed >= total => Next::TimedOut,
            _ => Next::Attempt,
        }
    }

    /// What is left of the time.
    #[must_use]
    pub fn left(&self, elapsed: Duration) -> Duration {
        self.total
            .map_or(Duration::MAX, |total| total.saturating_sub(elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_bound_is_met_ends_it() {
        let bounds = Bounds {
            max_attempts: 2,
            total: Some(Duration::from_secs(10)),
        };
        let after = |attempts, seconds| bounds.after(attempts, Duration::from_secs(seconds));
        assert_eq!(after(0, 0), Next::Attempt);
        assert_eq!(after(1, 9), Next::Attempt);
        assert_eq!(after(1, 10), Next::TimedOut);
        assert_eq!(after(2, 1), Next::Exhausted);
        assert_eq!(after(2, 11), Next::Exhausted);
        assert_eq!(bounds.left(Duration::from_secs(11)), Duration::ZERO);
        let open = Bounds {
            total: None,
            ..bounds
        };
        assert_eq!(open.after(1, Duration::MAX), Next::Attempt);
    }
}
