//! Some durations, and what they say together.

use std::fmt;
use std::time::Duration;

/// Sorted durations.
pub struct Sample(Vec<Duration>);

impl Sample {
    pub fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort();
        Self(durations)
    }

    /// The smallest one that so many percent do not pass (nearest rank).
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or_default()
    }

    /// How many times as long the other one's median is.
    pub fn ratio(&self, other: &Self) -> f64 {
        other.percentile(50).as_secs_f64() / self.percentile(50).as_secs_f64()
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |percent| self.percentile(percent).as_secs_f64() * 1e3;
        write!(
            f,
            "p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms (n = {})",
            ms(50),
            ms(99),
            ms(100),
            self.0.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sample = Sample::new((1..=200).rev().map(Duration::from_millis).collect());
        let at = |percent| sample.percentile(percent).as_millis();
        assert_eq!((at(50), at(99), at(100)), (100, 198, 200));
        assert_eq!(Sample::new(Vec::new()).percentile(50), Duration::ZERO);
    }
}
