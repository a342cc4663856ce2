//! How long people need to read what the fleet offers them.
//!
//! Who reads more than 200 to 400 lines an hour finds fewer of the mistakes (a study of 2,500 reviews at
//! Cisco, SmartBear 2006): a change costs a minute for each five of its lines, and two at least. Where
//! changes wait for days before they are merged, people have less time than that, so each counts as
//! often as the days that they usually wait: once at least, three times at most.

use chrono::{DateTime, TimeDelta, Utc};

use crate::text::counted;

/// Lines that somebody reads in a minute: 300 an hour.
const LINES_A_MINUTE: u64 = 5;
/// Minutes that even the smallest change takes.
const LEAST: u64 = 2;
/// The weight of a change is in hundredths: at least this, …
const LIGHTEST: i64 = 100;
/// … and at most this.
const HEAVIEST: i64 = 300;
/// Pull requests that are told one by one.
const TOLD: usize = 5;

/// How far back it counts how long pull requests waited to be merged.
pub const MEASURED: TimeDelta = TimeDelta::days(14);

/// How often each minute of reading counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    hundredths: i64,
}

impl Weight {
    /// By how long each of the pull requests waited that were merged lately. Without any it is 1.
    #[must_use]
    pub fn measured(mut waited: Vec<TimeDelta>) -> Self {
        waited.sort_unstable();
        let middle = waited.len() / 2;
        let median = match waited.get(middle) {
            None => TimeDelta::zero(),
            Some(upper) if waited.len() % 2 == 1 => *upper,
            Some(upper) => (*upper + waited[middle - 1]) / 2,
        };
        let hundredths = median.num_minutes() * 100 / TimeDelta::days(1).num_minutes();
        Self {
            hundredths: hundredths.clamp(LIGHTEST, HEAVIEST),
        }
    }

    /// Minutes that people need for a change of so many lines.
    #[must_use]
    pub fn minutes(self, lines: u64) -> u64 {
        let plain = lines.div_ceil(LINES_A_MINUTE).max(LEAST);
        let hundredths = self.hundredths.unsigned_abs();
        plain.saturating_mul(hundredths).div_ceil(100)
    }
}

/// How long a pull request waited that was opened and merged then, if that is recent enough to count.
#[must_use]
pub fn waited(
    opened: DateTime<Utc>,
    merged: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<TimeDelta> {
    (merged > now - MEASURED).then(|| (merged - opened).max(TimeDelta::zero()))
}

/// A finished change that waits for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its pull request; `None` while the forge has not taken that.
    pub pull: Option<u64>,
    /// Lines that it adds and takes away.
    pub lines: u64,
}

/// What people have to read in one repository.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The changes, in the order in which they are told.
    pub offered: Vec<Offered>,
    /// How often each minute counts.
    pub weight: Weight,
}

impl Reading {
    /// Minutes that all of it takes.
    #[must_use]
    pub fn minutes(&self) -> u64 {
        let each = self.offered.iter();
        let each = each.map(|one| self.weight.minutes(one.lines));
        each.fold(0, u64::saturating_add)
    }

    /// Why nothing is begun that adds to it, when it takes as many minutes as people have in a day.
    #[must_use]
    pub fn fills(&self, repo: &str, most: u32) -> Option<String> {
        let all = self.minutes();
        (all >= u64::from(most)).then(|| {
            format!(
                "people have {all} minutes of open pull requests to read in {repo}, and \
                 review_minutes_per_day is {most}: {}{}",
                self.each_told(),
                self.weight_told()
            )
        })
    }

    fn each_told(&self) -> String {
        let told = self.offered.iter().take(TOLD).map(|one| {
            let pull = match one.pull {
                Some(number) => format!("#{number}"),
                None => "one that the forge has not taken yet".to_owned(),
            };
            let (lines, minutes) = (one.lines, self.weight.minutes(one.lines));
            format!(
                "{pull} ({}, {})",
                counted(lines, "line"),
                counted(minutes, "minute")
            )
        });
        let told: Vec<String> = told.collect();
        match self.offered.len().saturating_sub(TOLD) {
            0 => told.join(", "),
            more => format!("{} and {more} more", told.join(", ")),
        }
    }

    fn weight_told(&self) -> String {
        let (whole, part) = (self.weight.hundredths / 100, self.weight.hundredths % 100);
        match self.weight.hundredths {
            LIGHTEST => String::new(),
            HEAVIEST => {
                "; each minute counts 3 times: what was merged lately had waited for three \
                         days or more"
                    .to_owned()
            }
            _ => format!(
                "; each minute counts {whole}.{part:02} times: what was merged lately had waited for \
                 so many days"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weight(hours: &[i64]) -> Weight {
        Weight::measured(hours.iter().copied().map(TimeDelta::hours).collect())
    }

    #[test]
    fn five_lines_are_a_minute_and_the_smallest_change_is_two() {
        let plain = weight(&[]);
        let minutes = [0, 1, 10, 11, 300, u64::MAX].map(|lines| plain.minutes(lines));
        assert_eq!(minutes[..5], [2, 2, 2, 3, 60]);
        assert!(minutes[5] > u64::from(u32::MAX));
    }

    #[test]
    fn the_median_of_the_days_is_the_weight_between_one_and_three() {
        for (hours, hundredths) in [
            (&[][..], 100),
            (&[1], 100),
            (&[36], 150),
            (&[1, 36, 900], 150),
            (&[24, 48], 150),
            (&[900, 900], 300),
            (&[-5], 100),
        ] {
            assert_eq!(weight(hours).hundredths, hundredths, "{hours:?}");
        }
        assert_eq!(weight(&[36]).minutes(100), 30);
        assert_eq!(weight(&[36]).minutes(1), 3);
    }

    #[test]
    fn only_what_was_merged_in_two_weeks_is_measured() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
        let ago = |days| now - TimeDelta::days(days);
        assert_eq!(waited(ago(20), ago(13), now), Some(TimeDelta::days(7)));
        assert_eq!(waited(ago(20), ago(14), now), None);
        // A clock that was set back meanwhile.
        assert_eq!(waited(ago(1), ago(2), now), Some(TimeDelta::zero()));
    }

    fn reading(lines: &[u64], hours: &[i64]) -> Reading {
        let one = |(at, lines): (usize, &u64)| Offered {
            pull: u64::try_from(at).ok().filter(|number| *number > 0),
            lines: *lines,
        };
        Reading {
            offered: lines.iter().enumerate().map(one).collect(),
            weight: weight(hours),
        }
    }

    #[test]
    fn it_is_full_at_its_bound_and_says_what_fills_it() {
        let full = reading(&[50, 5], &[]);
        assert_eq!((full.minutes(), full.fills("widget", 13)), (12, None));
        let said = full.fills("widget", 12);
        let expected = "people have 12 minutes of open pull requests to read in widget, and \
             review_minutes_per_day is 12: one that the forge has not taken yet (50 lines, 10 \
             minutes), #1 (5 lines, 2 minutes)";
        assert_eq!(said.as_deref(), Some(expected));
        let many = reading(&[1; 7], &[36]).fills("widget", 1);
        let many = many.unwrap_or_default();
        assert!(many.contains("#4 (1 line, 3 minutes) and 2 more; each minute counts 1.50 times"));
        let long = reading(&[1], &[100]).fills("widget", 1).unwrap_or_default();
        assert!(long.contains("counts 3 times"), "{long}");
        assert_eq!(reading(&[], &[]).fills("widget", 1), None);
    }

    proptest! {
        #[test]
        fn more_to_read_never_takes_less_time(
            lines in prop::collection::vec(0u64..1_000_000, 0..9),
            more in 0u64..1_000_000,
            hours in prop::collection::vec(0i64..2_000, 0..9),
        ) {
            let before = reading(&lines, &hours);
            let mut longer = lines.clone();
            longer.push(more);
            let after = reading(&longer, &hours);
            prop_assert!(after.minutes() >= before.minutes() + 2);
            let alone = before.weight.minutes(more);
            prop_assert_eq!(after.minutes(), before.minutes() + alone);
            prop_assert!(before.weight.minutes(more + 1) >= alone);
            // Three times what a quick reader needs is the most.
            prop_assert!(alone <= 3 * more.div_ceil(5).max(2));
            let full = before.fills("w", 1).is_some();
            prop_assert_eq!(full, !lines.is_empty());
        }

        #[test]
        fn who_merges_more_slowly_weighs_as_much_or_more(
            hours in prop::collection::vec(0i64..2_000, 1..9), slower in 0i64..500, lines in 0u64..100_000,
        ) {
            let later: Vec<i64> = hours.iter().map(|one| one + slower).collect();
            prop_assert!(weight(&later).minutes(lines) >= weight(&hours).minutes(lines));
        }
    }
}
