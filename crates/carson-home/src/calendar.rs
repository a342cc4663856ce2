//! Days and months of a zone. A day may have 23 or 25 hours.

use chrono::{DateTime, Datelike, Months, NaiveDate, TimeZone, Utc};
use chrono_tz::Tz;

/// The day of the zone in which `now` lies: its first instant, and that of the next.
pub fn day_of(zone: Tz, now: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    let today = now.with_timezone(&zone).date_naive();
    let next = today.succ_opt();
    (
        midnight(zone, today, now),
        next.map_or(now, |next| midnight(zone, next, now)),
    )
}

/// The same for the month.
pub fn month_of(zone: Tz, now: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    let today = now.with_timezone(&zone).date_naive();
    let first = today.with_day(1).unwrap_or(today);
    let next = first.checked_add_months(Months::new(1));
    (
        midnight(zone, first, now),
        next.map_or(now, |next| midnight(zone, next, now)),
    )
}

/// Where midnight falls into a gap, the day begins with the first instant after it.
fn midnight(zone: Tz, date: NaiveDate, now: DateTime<Utc>) -> DateTime<Utc> {
    (0..24 * 60)
        .step_by(15)
        .filter_map(|minutes| date.and_hms_opt(minutes / 60, minutes % 60, 0))
        .find_map(|local| zone.from_local_datetime(&local).earliest())
        .map_or(now, |local| local.with_timezone(&Utc))
}

#[cfg(test)]
mod tests {
    use chrono_tz::{America, Europe};

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn hours((from, to): (DateTime<Utc>, DateTime<Utc>)) -> i64 {
        (to - from).num_hours()
    }

    #[test]
    fn a_day_has_as_many_hours_as_its_zone_gives_it() {
        let zone = Europe::Berlin;
        assert_eq!(hours(day_of(zone, at("2026-03-29T10:00:00Z"))), 23);
        assert_eq!(hours(day_of(zone, at("2026-10-25T10:00:00Z"))), 25);
        assert_eq!(hours(day_of(zone, at("2026-10-26T10:00:00Z"))), 24);
        // Both of the hours that have one name are of the same day.
        let (from, to) = day_of(zone, at("2026-10-25T00:30:00Z"));
        assert_eq!((from, to), day_of(zone, at("2026-10-25T01:30:00Z")));
        assert_eq!(from, at("2026-10-24T22:00:00Z"));
    }

    #[test]
    fn a_midnight_that_does_not_exist_is_the_instant_after_the_gap() {
        // In Santiago the clock goes from 24:00 to 01:00.
        let day = day_of(America::Santiago, at("2026-09-06T12:00:00Z"));
        assert_eq!(hours(day), 23);
        assert_eq!(day.0, at("2026-09-06T04:00:00Z"));
    }

    #[test]
    fn a_month_is_that_of_the_zone() {
        let zone = Europe::Berlin;
        let october = month_of(zone, at("2026-10-31T22:59:59Z"));
        assert_eq!(
            october,
            (at("2026-09-30T22:00:00Z"), at("2026-10-31T23:00:00Z"))
        );
        assert_eq!(month_of(zone, at("2026-10-31T23:00:00Z")).0, october.1);
    }
}
