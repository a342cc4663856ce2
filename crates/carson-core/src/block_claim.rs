//! How far one firing's word counts, when it says that its account is blocked.
//!
//! What a CLI says of a limit is text that came out of a session. A short block costs little, and is
//! believed at once. A long one, and one that only a person ends, stops a whole fleet: it is first
//! short, and counts in full when another firing has met the same afterwards.

use chrono::{DateTime, TimeDelta, Utc};

use crate::id::FiringId;
use crate::skip::BlockKind;

/// Limits of a day and less are believed at once: windows of a few hours, and times of day.
pub const BELIEVED_AT_ONCE: TimeDelta = TimeDelta::hours(24);
/// How long a block stands whose claim nobody has confirmed yet.
pub const UNCONFIRMED: TimeDelta = TimeDelta::minutes(30);
/// How long after such a block a second firing confirms it; later the claim is a new one.
const CONFIRMED_WITHIN: TimeDelta = TimeDelta::hours(24);
/// By how much two firings may differ about the same end.
const SAME_END: TimeDelta = TimeDelta::hours(1);

/// A block as a firing claims it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockClaim {
    /// Who says so.
    pub firing: String,
    /// What stands behind it.
    pub kind: BlockKind,
    /// Until when; `None` until a person ends it.
    pub until: Option<DateTime<Utc>>,
}

/// A claim that was not believed yet, and how long its block stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The claim.
    pub claim: BlockClaim,
    /// Until when the block stands.
    pub stands_until: DateTime<Utc>,
}

impl BlockClaim {
    /// A firing's claim.
    #[must_use]
    pub fn of(firing: FiringId, kind: BlockKind, until: Option<DateTime<Utc>>) -> Self {
        Self {
            firing: firing.to_string(),
            kind,
            until,
        }
    }

    /// Whether it counts as it is said, after what was claimed before.
    #[must_use]
    pub fn is_believed(&self, before: Option<&Unconfirmed>, now: DateTime<Utc>) -> bool {
        let is_short = self
            .until
            .is_some_and(|until| until - now <= BELIEVED_AT_ONCE);
        is_short || before.is_some_and(|before| self.confirms(before, now))
    }

    /// Whether another firing said the same, or more, not long ago.
    fn confirms(&self, before: &Unconfirmed, now: DateTime<Utc>) -> bool {
        let is_no_longer = match (self.until, before.claim.until) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(now), Some(before)) => now <= before + SAME_END,
        };
        self.firing != before.claim.firing
            && self.kind == before.claim.kind
            && is_no_longer
            && now - before.stands_until <= CONFIRMED_WITHIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn claim(firing: &str, kind: BlockKind, hours: Option<i64>) -> BlockClaim {
        BlockClaim {
            firing: firing.into(),
            kind,
            until: hours.map(|hours| now() + TimeDelta::hours(hours)),
        }
    }

    #[test]
    fn a_short_block_is_believed_and_a_long_one_is_not() {
        for (hours, believed) in [
            (Some(5), true),
            (Some(24), true),
            (Some(25), false),
            (None, false),
        ] {
            let claim = claim("a", BlockKind::Limit, hours);
            assert_eq!(claim.is_believed(None, now()), believed, "{hours:?}");
        }
    }

    #[test]
    fn a_long_one_is_believed_when_another_firing_says_the_same() {
        let month = Some(30 * 24);
        // The first claim, how many hours ago its block ended, the second, and whether it counts.
        let cases = [
            (
                ("a", BlockKind::Limit, month),
                0,
                ("b", BlockKind::Limit, month),
                true,
            ),
            (
                ("a", BlockKind::Limit, month),
                23,
                ("b", BlockKind::Limit, Some(48)),
                true,
            ),
            (
                ("a", BlockKind::Auth, None),
                0,
                ("b", BlockKind::Auth, None),
                true,
            ),
            (
                ("a", BlockKind::Limit, month),
                0,
                ("a", BlockKind::Limit, month),
                false,
            ),
            (
                ("a", BlockKind::Limit, month),
                25,
                ("b", BlockKind::Limit, month),
                false,
            ),
            (
                ("a", BlockKind::Limit, Some(48)),
                0,
                ("b", BlockKind::Limit, month),
                false,
            ),
            (
                ("a", BlockKind::Limit, month),
                0,
                ("b", BlockKind::Auth, None),
                false,
            ),
            (
                ("a", BlockKind::Auth, None),
                0,
                ("b", BlockKind::Billing, None),
                false,
            ),
        ];
        for (first, ago, second, believed) in cases {
            let before = Unconfirmed {
                claim: claim(first.0, first.1, first.2),
                stands_until: now() - TimeDelta::hours(ago),
            };
            let claim = claim(second.0, second.1, second.2);
            let is = claim.is_believed(Some(&before), now());
            assert_eq!(is, believed, "{before:?} {claim:?}");
        }
    }
}
