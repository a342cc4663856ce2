//! What the daemon does beside firing: housekeeping, and saying that it lives.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

use crate::check::Check;
use crate::duration::parse_duration;
use crate::outside::Paths;
use crate::raw::{HeartbeatSection, HousekeepingSection};
use crate::secret::read_secret;

/// Hours of every day, such as `02:00-05:00`; `22:00-04:00` goes over midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    from: NaiveTime,
    to: NaiveTime,
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

/// How Carson cleans up after itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Housekeeping {
    /// When heavy work on the mirrors and the database is done, in the fleet's zone.
    pub quiet: Hours,
    /// Days that logs, transcripts, posts and events are kept.
    pub keep_days: u32,
    /// Mebibytes that logs and transcripts may take together.
    pub keep_mb: u32,
    /// Backups of the database that are kept.
    pub keep_backups: u32,
}

/// How others learn that the daemon lives.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// Where it says so.
    pub to: Option<HeartbeatUrl>,
    /// How often.
    pub every: Duration,
    /// How long it may have been away without the chat being told.
    pub alert_after_down: Duration,
}

/// Where a sign of life goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatUrl {
    /// The address.
    Plain(String),
    /// A file with it: such addresses are often secrets.
    File(PathBuf),
}

/// What was written has been checked by its kind before; what is left of a mistake is a default.
pub(crate) fn housekeeping(raw: &HousekeepingSection) -> Housekeeping {
    let default = || Hours {
        from: NaiveTime::MIN,
        to: NaiveTime::MIN + chrono::TimeDelta::hours(3),
    };
    Housekeeping {
        quiet: raw.quiet_hours.parse().unwrap_or_else(|_| default()),
        keep_days: raw.keep_days,
        keep_mb: raw.keep_mb,
        keep_backups: raw.keep_backups,
    }
}

pub(crate) fn heartbeat(
    raw: HeartbeatSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Heartbeat {
    let span = |text: &str| parse_duration(text).unwrap_or(Duration::from_secs(300));
    let to = match (raw.url, raw.url_file) {
        (Some(_), Some(_)) => {
            let hint = "keep url_file";
            check.problem("heartbeat", "it has both url and url_file", hint);
            None
        }
        (Some(url), None) => {
            if !url.starts_with("https://") && !url.starts_with("http://") {
                let hint = "url = \"https://…\"";
                check.problem("heartbeat.url", "it is no web address", hint);
            }
            Some(HeartbeatUrl::Plain(url))
        }
        (None, Some(file)) => {
            let path = paths.expand(&file);
            if let Err(error) = read_secret(&path) {
                check.problem("heartbeat.url_file", error.to_string(), "");
            }
            Some(HeartbeatUrl::File(path))
        }
        (None, None) => None,
    };
    Heartbeat {
        to,
        every: span(&raw.every),
        alert_after_down: span(&raw.alert_after_down),
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
