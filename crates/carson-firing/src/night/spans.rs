//! Times that a forecast goes over.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// Where a calendar has no morning.
const A_DAY: TimeDelta = TimeDelta::days(1);

/// When people are up again.
const MORNING: NaiveTime = match NaiveTime::from_hms_opt(7, 0, 0) {
    Some(time) => time,
    None => NaiveTime::MIN,
};

/// The next morning in a zone, which is never now.
#[must_use]
pub fn morning(zone: Tz, now: DateTime<Utc>) -> DateTime<Utc> {
    let today = now.with_timezone(&zone).date_naive();
    let morning = |days: u64| {
        let local = today.checked_add_days(Days::new(days))?.and_time(MORNING);
        let at = zone.from_local_datetime(&local).earliest()?;
        Some(at.with_timezone(&Utc)).filter(|at| *at > now)
    };
    (0..=2).find_map(morning).unwrap_or(now + A_DAY)
}

/// Days or months, one after the other: the one of `from`, and all that begin before `until`.
pub(super) fn over(
    period: impl Fn(DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>),
    from: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let mut all = Vec::new();
    let mut at = from;
    // A night touches two days; whatever a calendar does, this ends.
    for _ in 0..4 {
        let (begins, ends) = period(at);
        all.push((begins, ends));
        if ends <= at || ends >= until {
            break;
        }
        at = ends;
    }
    all
}

#[cfg(test)]
mod tests {
    use carson_home::calendar::day_of;
    use chrono_tz::Europe::Berlin;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn the_morning_is_that_of_the_zone_and_ahead() {
        for (now, next) in [
            ("2026-11-20T20:00:00Z", "2026-11-21T06:00:00Z"),
            ("2026-11-21T05:59:59Z", "2026-11-21T06:00:00Z"),
            ("2026-11-21T06:00:00Z", "2026-11-22T06:00:00Z"),
            // The clock goes back in this night.
            ("2026-10-24T20:00:00Z", "2026-10-25T06:00:00Z"),
        ] {
            assert_eq!(morning(Berlin, at(now)), at(next), "{now}");
        }
    }

    #[test]
    fn a_night_touches_the_day_before_and_the_day_after() {
        let (from, until) = (at("2026-11-20T20:00:00Z"), at("2026-11-21T06:00:00Z"));
        let days = over(|at| day_of(Berlin, at), from, until);
        let midnight = at("2026-11-20T23:00:00Z");
        assert_eq!(days.len(), 2);
        assert_eq!((days[0].1, days[1].0), (midnight, midnight));
        let one = over(|at| day_of(Berlin, at), midnight, until);
        assert_eq!(one.len(), 1);
    }
}
