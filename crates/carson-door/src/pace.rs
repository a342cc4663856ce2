//! How much in how long.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets so many through in such a time.
#[derive(Debug)]
pub struct Pace {
    most: usize,
    within: Duration,
    passed: Mutex<VecDeque<Instant>>,
}

impl Pace {
    /// So many in such a time.
    #[must_use]
    pub fn new(most: usize, within: Duration) -> Self {
        Self {
            most,
            within,
            passed: Mutex::default(),
        }
    }

    /// Lets one through now; none where enough have passed.
    pub fn pass(&self, now: Instant) -> bool {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(first) = passed.front()
            && now.duration_since(*first) >= self.within
        {
            passed.pop_front();
        }
        let may = passed.len() < self.most;
        if may {
            passed.push_back(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_pass_and_the_next_when_the_first_is_long_ago() {
        let hour = Duration::from_secs(3_600);
        let (pace, start) = (Pace::new(2, hour), Instant::now());
        let passes = [0, 1, 2, 3_599, 3_600, 3_600, 3_601];
        let passes = passes.map(|at| pace.pass(start + Duration::from_secs(at)));
        assert_eq!(passes, [true, true, false, false, true, false, true]);
    }
}
