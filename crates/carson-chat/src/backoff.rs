//! How long to wait before the next connection.

use std::time::Duration;

/// The first wait, at most.
pub(crate) const FIRST: Duration = Duration::from_secs(1);
/// The longest wait, at most.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);
/// A connection that lived so long was a good one.
pub(crate) const GOOD: Duration = Duration::from_secs(30);

/// The wait after so many failures in a row: doubled each time up to a bound, and between a half of that and all
/// of it, so that many do not come back at once. `jitter` is any byte.
#[must_use]
pub(crate) fn wait(failures: u32, jitter: u8) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let most = doubled.min(LONGEST);
    most / 2 + most / 2 * u32::from(jitter) / 255
}

/// A byte that nobody knows before.
pub(crate) fn jitter() -> u8 {
    let mut byte = [128];
    // Without any, everybody waits the same.
    let _ = getrandom::fill(&mut byte);
    byte[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_differ_within_it() {
        for jitter in 0..=255 {
            for failures in 1..10_000 {
                let wait = wait(failures, jitter);
                assert!(wait <= LONGEST, "{failures} {jitter}: {wait:?}");
                assert!(wait >= FIRST / 2, "{failures} {jitter}: {wait:?}");
            }
            assert!(wait(u32::MAX, jitter) >= LONGEST / 2);
        }
        let most: Vec<u64> = (1..=9).map(|n| wait(n, 255).as_secs()).collect();
        assert_eq!(most, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
        assert!(wait(9, 0) < wait(9, 128) && wait(9, 128) < wait(9, 255));
    }
}
