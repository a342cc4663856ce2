//! Hours of the day.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

/// Hours of every day, such as `02:00-05:00`; `22:00-04:00` goes over midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    pub(crate) from: NaiveTime,
    pub(crate) to: NaiveTime,
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a span of hours, such as \"02:00-05:00\"");
        let (from, to) = text.split_once('-').ok_or_else(bad)?;
        let time = |text: &str| NaiveTime::parse_from_str(text.trim(), "%H:%M").map_err(|_| bad());
        let hours = Self {
            from: time(from)?,
            to: time(to)?,
        };
        if hours.from == hours.to {
            return Err(format!("{text:?} ends where it begins"));
        }
        Ok(hours)
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.format("%H:%M"), self.to.format("%H:%M"));
        write!(f, "{from}-{to}")
    }
}

impl Hours {
    /// Whether an instant lies within.
    #[must_use]
    pub fn contain(&self, at: DateTime<Utc>, zone: Tz) -> bool {
        let time = at.with_timezone(&zone).time();
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }

    /// The first instant within, from `at` on. Hours that a change of the clocks leaves out come
    /// when the next ones do.
    #[must_use]
    pub fn next(&self, at: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        if self.contain(at, zone) {
            return at;
        }
        let today = at.with_timezone(&zone).date_naive();
        let begins = |days: u64| {
            let local = today.checked_add_days(Days::new(days))?.and_time(self.from);
            let begin = zone.from_local_datetime(&local).earliest()?;
            Some(begin.with_timezone(&Utc)).filter(|begin| *begin > at)
        };
        (0..=2).find_map(begins).unwrap_or(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn hours_are_those_of_the_zone_and_may_go_over_midnight() {
        let berlin = chrono_tz::Europe::Berlin;
        let night: Hours = "02:00-05:00".parse().unwrap();
        assert!(night.contain(at("2026-07-01T00:00:00Z"), berlin));
        assert!(!night.contain(at("2026-07-01T03:00:00Z"), berlin));
        assert_eq!(
            night.next(at("2026-07-01T03:00:00Z"), berlin),
            at("2026-07-02T00:00:00Z")
        );
        let over: Hours = "22:00-04:00".parse().unwrap();
        for (time, inside) in [
            ("21:59", false),
            ("22:00", true),
            ("03:59", true),
            ("04:00", false),
        ] {
            assert_eq!(
                over.contain(at(&format!("2026-07-01T{time}:00Z")), Tz::UTC),
                inside
            );
        }
    }

    #[test]
    fn hours_that_a_day_does_not_have_come_on_the_next() {
        // Clocks go from 02:00 to 03:00 on this day.
        let gap: Hours = "02:10-02:50".parse().unwrap();
        let berlin = chrono_tz::Europe::Berlin;
        assert_eq!(
            gap.next(at("2026-03-28T12:00:00Z"), berlin),
            at("2026-03-30T00:10:00Z")
        );
    }

    #[test]
    fn what_is_no_span_of_hours_is_refused() {
        for text in ["", "02:00", "2-5", "25:00-26:00", "02:00-02:00", "a-b"] {
            assert!(text.parse::<Hours>().is_err(), "{text}");
        }
    }
}
