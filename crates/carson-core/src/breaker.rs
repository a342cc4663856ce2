//! The breaker: enough bad outcomes in a row and a role stops until an operator resets it, or
//! until one firing after its cooldown ends well.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::outcome::{Outcome, StreakEffect};

/// A role's fail streak as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// Consecutive outcomes that counted as bad.
    pub streak: u32,
    /// Consecutive rejections.
    pub rejections: u32,
    /// When it opened; `None` is closed.
    pub opened_at: Option<DateTime<Utc>>,
    /// The reason of the outcome that opened it.
    pub reason: Option<String>,
}

/// When a breaker opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Bad outcomes in a row that open it; 0 never opens.
    pub fail_streak: u32,
    /// Rejections in a row that do not yet count as bad.
    pub max_rejections: u32,
}

impl Breaker {
    /// Whether the role may not fire.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.opened_at.is_some()
    }

    /// When one firing may try whether the role works again.
    #[must_use]
    pub fn half_opens_at(&self, cooldown: Option<Duration>) -> Option<DateTime<Utc>> {
        let cooldown = TimeDelta::from_std(cooldown?).ok()?;
        self.opened_at?.checked_add_signed(cooldown)
    }

    /// The breaker after a firing has ended. One that was claimed while the breaker was open is
    /// its probe: a good end closes it, and one that is neither good nor quiet opens it anew. A firing
    /// that tells nothing of its role has no thresholds, and leaves it as it is.
    #[must_use]
    pub fn after_firing(
        self,
        claimed_at: DateTime<Utc>,
        outcome: Outcome,
        why: &str,
        now: DateTime<Utc>,
        at: Option<Thresholds>,
    ) -> Self {
        let Some(at) = at else { return self };
        if self.opened_at.is_none_or(|opened| claimed_at <= opened) {
            return self.after(outcome, why, now, at);
        }
        match outcome {
            // Nothing was tried: the next slot is the probe.
            Outcome::Silent | Outcome::Skipped | Outcome::RateLimited | Outcome::Auth => self,
            _ if outcome.streak() == StreakEffect::Resets => Self::default(),
            _ => Self {
                streak: self.streak.saturating_add(1),
                rejections: self.rejections,
                opened_at: Some(now),
                reason: Some(format!("tried again: {why}")),
            },
        }
    }

    /// The breaker after one more outcome. An open breaker stays open, whatever follows: only a
    /// reset closes it.
    #[must_use]
    pub fn after(self, outcome: Outcome, why: &str, now: DateTime<Utc>, at: Thresholds) -> Self {
        let rejections = match outcome {
            Outcome::Rejected => self.rejections.saturating_add(1),
            _ if outcome.streak() == StreakEffect::Resets => 0,
            _ => self.rejections,
        };
        let streak = match outcome.streak() {
            StreakEffect::Resets => 0,
            StreakEffect::Unchanged => self.streak,
            StreakEffect::Counts => self.streak.saturating_add(1),
            StreakEffect::CountsAfterRejections if rejections > at.max_rejections => {
                self.streak.saturating_add(1)
            }
            StreakEffect::CountsAfterRejections => self.streak,
        };
        let opens = self.opened_at.is_none() && at.fail_streak > 0 && streak >= at.fail_streak;
        Self {
            streak,
            rejections,
            opened_at: if opens { Some(now) } else { self.opened_at },
            reason: if opens {
                Some(why.to_owned())
            } else {
                self.reason
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AT: Thresholds = Thresholds {
        fail_streak: 3,
        max_rejections: 2,
    };

    fn run(outcomes: &[Outcome]) -> Breaker {
        let now = DateTime::from_timestamp(0, 0).unwrap();
        outcomes
            .iter()
            .fold(Breaker::default(), |b, o| b.after(*o, "why", now, AT))
    }

    #[test]
    fn it_opens_on_the_third_failure_and_keeps_its_reason() {
        use Outcome::{Failed, Ok, Partial, Silent, TimedOut};
        assert!(!run(&[Failed, Failed]).is_open());
        assert!(!run(&[Failed, Failed, Ok, Failed]).is_open());
        let open = run(&[Failed, Silent, TimedOut, Partial, Failed]);
        assert!(open.is_open());
        assert_eq!(open.reason.as_deref(), Some("why"));
    }

    #[test]
    fn rejections_count_only_when_they_become_a_habit() {
        use Outcome::Rejected;
        assert_eq!(run(&[Rejected; 2]).streak, 0);
        assert_eq!(run(&[Rejected; 3]).streak, 1);
        assert!(run(&[Rejected; 5]).is_open());
    }

    #[test]
    fn a_firing_that_tells_nothing_of_its_role_moves_nothing() {
        let now = at(0);
        let two = run(&[Outcome::Failed; 2]);
        for outcome in Outcome::ALL {
            for before in [Breaker::default(), two.clone(), run(&[Outcome::Failed; 3])] {
                let after = before.clone().after_firing(now, outcome, "away", now, None);
                assert_eq!(after, before, "{outcome}");
            }
        }
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    proptest! {
        #[test]
        fn a_probe_closes_it_opens_it_anew_or_proves_nothing(
            pick in 0..Outcome::ALL.len(), opened in 0..1_000_i64, later in 1..1_000_i64,
        ) {
            let outcome = Outcome::ALL[pick];
            let open = Breaker { streak: 3, opened_at: Some(at(opened)), ..Breaker::default() };
            let end = at(opened + later + 1);
            let next = open.clone().after_firing(at(opened + later), outcome, "w", end, Some(AT));
            match outcome.streak() {
                StreakEffect::Resets => prop_assert_eq!(next, Breaker::default()),
                StreakEffect::Counts => prop_assert_eq!(next.opened_at, Some(end)),
                _ => prop_assert!(next == open || next.opened_at == Some(end)),
            }
            // A firing of before it opened is none: only `after` speaks then.
            let before = open.clone().after_firing(at(opened), outcome, "w", end, Some(AT));
            prop_assert_eq!(before.opened_at, open.opened_at);
            let half = open.half_opens_at(Some(Duration::from_secs(60)));
            prop_assert_eq!(half, Some(at(opened + 60)));
            prop_assert_eq!(open.half_opens_at(None), None);
            prop_assert_eq!(open.half_opens_at(Some(Duration::MAX)), None);
        }

        #[test]
        fn open_stays_open_and_quiet_outcomes_change_nothing(
            picks in proptest::collection::vec(0..Outcome::ALL.len(), 0..40)
        ) {
            let now = DateTime::from_timestamp(0, 0).unwrap();
            let mut breaker = Breaker::default();
            for pick in picks {
                let outcome = Outcome::ALL[pick];
                let next = breaker.clone().after(outcome, "w", now, AT);
                prop_assert!(next.is_open() || !breaker.is_open());
                prop_assert!(next.streak <= breaker.streak + 1);
                if outcome.streak() == StreakEffect::Unchanged {
                    prop_assert_eq!(&next, &breaker);
                }
                prop_assert_eq!(next.is_open() && !breaker.is_open(),
                    next.streak >= AT.fail_streak && !breaker.is_open());
                breaker = next;
            }
        }
    }
}
