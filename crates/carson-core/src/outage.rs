//! When the provider of an account counts as down, and when it is asked again.
//!
//! One session that did not reach it says little. As many in a row as this, of all roles and on all
//! hosts, block the account; after the wait one session asks whether it is back, while all others
//! still wait.

use chrono::TimeDelta;

/// Sessions in a row that did not reach their provider, after which their account is blocked.
pub const IN_A_ROW: u32 = 5;
/// The first wait.
const FIRST: TimeDelta = TimeDelta::minutes(5);
/// The longest one.
const LONGEST: TimeDelta = TimeDelta::hours(1);
/// After so many doublings it is the longest.
const DOUBLINGS: u32 = 4;

/// How long nobody asks, when `asked` sessions have asked in vain since the account was blocked.
#[must_use]
pub fn wait(asked: u32) -> TimeDelta {
    (FIRST * 2_i32.pow(asked.min(DOUBLINGS))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn waits_double_from_five_minutes_to_an_hour() {
        let minutes: Vec<i64> = (0..7).map(|asked| wait(asked).num_minutes()).collect();
        assert_eq!(minutes, [5, 10, 20, 40, 60, 60, 60]);
    }

    proptest! {
        #[test]
        fn no_wait_is_shorter_than_the_one_before_or_out_of_bounds(asked in any::<u32>()) {
            let (this, next) = (wait(asked), wait(asked.saturating_add(1)));
            prop_assert!(FIRST <= this && this <= next && next <= LONGEST);
        }
    }
}
