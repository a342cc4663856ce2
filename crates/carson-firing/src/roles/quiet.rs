//! What a follow-up answers stands still first: who writes five remarks in a minute, or pushes three commits,
//! is answered once.

use carson_core::text::instant;
use chrono::{DateTime, TimeDelta, Utc};

/// How long nothing may have come.
const QUIET: TimeDelta = TimeDelta::minutes(5);
/// How long after the first of them those that follow keep it waiting.
const LONGEST: TimeDelta = TimeDelta::minutes(20);

/// Why what came at these times is not answered yet. What says that it is still to come keeps nobody waiting.
pub(super) fn stirs(mut came: Vec<DateTime<Utc>>, now: DateTime<Utc>) -> Option<String> {
    came.retain(|at| *at <= now);
    came.sort();
    let last = *came.last()?;
    let mut first = last;
    for at in came.into_iter().rev() {
        if first - at >= QUIET {
            break;
        }
        first = at;
    }
    let longest = first + LONGEST;
    let until = (last + QUIET).min(longest);
    (now < until).then(|| {
        format!(
            "it has to stand still first: something came at {}, so it is taken at {}, with what comes until \
             then, and not after {}",
            instant(last),
            instant(until),
            instant(longest)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    fn waits(came: &[i64], now: i64) -> bool {
        stirs(came.iter().copied().map(at).collect(), at(now)).is_some()
    }

    #[test]
    fn what_came_a_moment_ago_waits_until_nothing_more_comes() {
        assert!(!waits(&[], 100));
        assert!(waits(&[100], 100) && waits(&[100], 104) && !waits(&[100], 105));
        assert!(waits(&[103, 100, 101], 107) && !waits(&[103, 100, 101], 108));
        // What is still to come is a clock that is wrong.
        assert!(!waits(&[200], 100) && waits(&[200, 99], 100));
    }

    #[test]
    fn it_never_waits_for_ever() {
        let stream: Vec<i64> = (0..30).map(|n| 100 + 4 * n).collect();
        assert!(waits(&stream[..5], 119) && !waits(&stream[..6], 120));
        // What lay there long before is no part of it.
        assert!(waits(&[10, 100], 101) && !waits(&[10, 100], 105));
    }

    #[test]
    fn it_says_until_when() {
        let why = stirs(vec![at(0), at(3)], at(4)).unwrap();
        for time in ["00:03:00", "00:08:00", "00:20:00"] {
            assert!(why.contains(time), "{why}");
        }
    }
}
