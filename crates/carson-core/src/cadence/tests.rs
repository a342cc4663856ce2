use chrono::TimeZone;
use chrono_tz::America::New_York;
use chrono_tz::Australia::Lord_Howe;
use chrono_tz::Europe::Berlin;
use proptest::prelude::*;

use super::*;

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

#[test]
fn the_slots_of_a_busy_day_are_counted() {
    let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
    for (line, slots) in [
        ("*/20 * * * *", 72),
        ("0 9 * * 1", 1),
        ("* * * * *", 1440),
        ("*/10 * * * * *", 8640),
        ("0 0 1 1 *", 1),
    ] {
        let most = cadence(line, chrono_tz::Europe::Berlin).most_in_a_day(now);
        assert_eq!(most, slots, "{line}");
    }
    let winter = cadence("0 9 * 1 *", Berlin);
    let copy = winter.clone();
    assert_eq!(winter.most_in_a_day(now), 1);
    let counted = copy.counted.lock().unwrap().map(|(day, _)| day);
    assert_eq!(counted, Some(now.date_naive()), "copies count once");
    assert_eq!(copy.most_in_a_day(now + TimeDelta::days(1)), 1);
}

fn cadence(line: &str, zone: Tz) -> Cadence {
    Cadence::parse(&[line], zone).unwrap()
}

/// Every slot from `from` (exclusive) to `to` (inclusive).
fn slots(cadence: &Cadence, from: &str, to: &str) -> Vec<String> {
    let (mut at, to) = (utc(from), utc(to));
    let mut found = Vec::new();
    while let Some(next) = cadence.next_after(at).filter(|next| *next <= to) {
        found.push(next.format("%m-%dT%H:%MZ").to_string());
        at = next;
    }
    found
}

#[test]
fn a_wall_clock_time_keeps_its_hour_over_both_changes() {
    let nine = cadence("30 9 * * *", New_York);
    assert_eq!(
        slots(&nine, "2026-03-07T00:00:00Z", "2026-03-09T23:00:00Z"),
        ["03-07T14:30Z", "03-08T13:30Z", "03-09T13:30Z"]
    );
    assert_eq!(
        slots(&nine, "2026-10-31T00:00:00Z", "2026-11-02T23:00:00Z"),
        ["10-31T13:30Z", "11-01T14:30Z", "11-02T14:30Z"]
    );
}

#[test]
fn a_time_in_the_gap_fires_once_right_after_it() {
    let gap = cadence("30 2 * * *", New_York);
    assert_eq!(
        slots(&gap, "2026-03-07T00:00:00Z", "2026-03-09T12:00:00Z"),
        ["03-07T07:30Z", "03-08T07:00Z", "03-09T06:30Z"]
    );
}

#[test]
fn a_time_that_exists_twice_fires_once() {
    let twice = cadence("30 1 * * *", New_York);
    assert_eq!(
        slots(&twice, "2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z"),
        ["11-01T05:30Z", "11-02T06:30Z"]
    );
}

#[test]
fn every_half_hour_goes_on_through_the_doubled_hour() {
    let half = cadence("*/30 * * * *", New_York);
    assert_eq!(
        slots(&half, "2026-11-01T04:59:00Z", "2026-11-01T08:00:00Z").len(),
        7
    );
    let half = cadence("*/30 * * * *", Lord_Howe);
    let over = slots(&half, "2026-04-04T12:59:00Z", "2026-04-04T17:00:00Z");
    assert_eq!(over.len(), 9, "{over:?}");
}

#[test]
fn day_of_month_and_day_of_week_are_alternatives() {
    let posix = cadence("0 0 14 * 5", Berlin);
    let found = slots(&posix, "2026-11-01T12:00:00Z", "2026-11-30T12:00:00Z");
    assert_eq!(
        found,
        [
            "11-05T23:00Z",
            "11-12T23:00Z",
            "11-13T23:00Z",
            "11-19T23:00Z",
            "11-26T23:00Z"
        ]
    );
}

#[test]
fn three_days_away_are_one_firing_that_says_what_it_stands_for() {
    let minutely = cadence("* * * * *", Tz::UTC);
    let due = minutely
        .due(utc("2026-01-01T00:00:00Z"), utc("2026-01-04T00:00:30Z"))
        .unwrap();
    assert_eq!(
        due,
        Due {
            slot: utc("2026-01-04T00:00:00Z"),
            at: utc("2026-01-04T00:00:00Z"),
            missed: MISSED_MAX,
            too_late: false
        }
    );
    let hourly = cadence("0 * * * *", Tz::UTC);
    let due = hourly
        .due(utc("2026-01-01T00:00:00Z"), utc("2026-01-04T00:30:00Z"))
        .unwrap();
    assert_eq!((due.missed, due.too_late), (71, false));
}

#[test]
fn lateness_follows_the_rule_of_the_role() {
    let daily = || cadence("0 3 * * *", Tz::UTC);
    let (last, now) = (utc("2026-01-01T03:00:00Z"), utc("2026-01-02T08:00:00Z"));
    let hour = Duration::from_secs(3_600);
    assert!(!daily().due(last, now).unwrap().too_late);
    assert!(
        daily()
            .catching_up(CatchUp::One, hour)
            .due(last, now)
            .unwrap()
            .too_late
    );
    assert!(
        daily()
            .catching_up(CatchUp::None, hour * 24)
            .due(last, now)
            .unwrap()
            .too_late
    );
    let prompt = utc("2026-01-02T03:00:20Z");
    assert!(
        !daily()
            .catching_up(CatchUp::None, hour)
            .due(last, prompt)
            .unwrap()
            .too_late
    );
}

#[test]
fn a_claimed_slot_is_not_due_again_however_the_clock_jumps() {
    let hourly = cadence("0 * * * *", Tz::UTC);
    let claimed = utc("2026-01-01T12:00:00Z");
    assert_eq!(hourly.due(claimed, utc("2026-01-01T12:59:59Z")), None);
    assert_eq!(
        hourly.due(claimed, utc("2026-01-01T10:30:00Z")),
        None,
        "two hours back"
    );
    assert_eq!(
        hourly
            .due(claimed, utc("2026-01-01T13:00:00Z"))
            .unwrap()
            .slot
            .timestamp(),
        { utc("2026-01-01T13:00:00Z").timestamp() }
    );
}

#[test]
fn splay_is_stable_within_its_span_and_moves_only_the_start() {
    let splay = Duration::from_secs(600);
    let plain = cadence("0 * * * *", Tz::UTC);
    let splayed = cadence("0 * * * *", Tz::UTC).splayed(splay, "implementer");
    let now = utc("2026-01-01T12:30:00Z");
    let delay = splayed.next_after(now).unwrap() - plain.next_after(now).unwrap();
    assert!(delay > TimeDelta::zero() && delay < TimeDelta::minutes(10));
    let start = splayed.next_after(now).unwrap();
    assert_eq!(
        splayed.due(now, start).unwrap().slot,
        utc("2026-01-01T13:00:00Z")
    );
    assert_eq!(splayed.due(now, start - TimeDelta::milliseconds(1)), None);
}

#[test]
fn seconds_are_optional_and_nonsense_is_named() {
    assert!(Cadence::parse(&["*/2 * * * * *", "@hourly"], Tz::UTC).is_ok());
    let error = Cadence::parse(&["* * * * *", "61 * * * *"], Tz::UTC).unwrap_err();
    assert_eq!(error.line, "61 * * * *");
    for (line, why) in [
        (
            "* * *",
            "it has 3 fields, and needs minute, hour, day, month and weekday",
        ),
        (
            "",
            "it has 0 fields, and needs minute, hour, day, month and weekday",
        ),
        ("61 * * * *", "minute is \"61\", and goes from 0 to 59"),
        (
            "5 24 * 13 *",
            "hour is \"24\", and goes from 0 to 23; month is \"13\", and goes from 1 to 12, or JAN to DEC",
        ),
        (
            "*/5 0 0 1 1 FRY",
            "weekday is \"FRY\", and goes from 0 to 7",
        ),
        ("99 * * * * *", "second is \"99\", and goes from 0 to 59"),
    ] {
        let error = Cadence::parse(&[line], Tz::UTC).unwrap_err();
        assert!(error.why.starts_with(why), "{line}: {}", error.why);
    }
    assert!(Cadence::parse(&["@never"], Tz::UTC).is_err());
}

fn lines() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "* * * * *",
        "*/20 * * * *",
        "30 2 * * *",
        "30 1 * * *",
        "15 */3 * * *",
        "0 9 * * 1-5",
        "0 0 1 * *",
        "*/7 * * * * *",
        "0 0 29 2 *",
    ])
}

fn zones() -> impl Strategy<Value = Tz> {
    prop::sample::select(vec![Tz::UTC, New_York, Berlin, Lord_Howe])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A daemon that looks at any instants, in any number, with restarts and sleeps between them,
    /// takes each slot at most once, never one that is not due, and never misses the newest.
    #[test]
    fn any_sequence_of_looks_takes_each_slot_once(
        line in lines(),
        zone in zones(),
        start in 1_760_000_000i64..1_800_000_000,
        steps in prop::collection::vec(0i64..200_000, 1..20),
    ) {
        let cadence = cadence(line, zone);
        let mut now = Utc.timestamp_opt(start, 0).unwrap();
        let mut last = now;
        for step in steps {
            now += TimeDelta::seconds(step);
            if let Some(due) = cadence.due(last, now) {
                prop_assert!(due.slot > last && due.slot <= now);
                let next = cadence.next_after(due.slot);
                prop_assert!(next.is_none_or(|next| next > now), "a newer slot was due");
                last = due.slot;
                prop_assert_eq!(cadence.due(last, now), None);
            } else {
                prop_assert!(cadence.next_after(last).is_none_or(|next| next > now));
            }
        }
    }

    /// A clock that jumps either way never makes a slot due twice.
    #[test]
    fn clock_jumps_never_repeat_a_slot(
        line in lines(),
        start in 1_760_000_000i64..1_800_000_000,
        jumps in prop::collection::vec(-100_000i64..100_000, 1..30),
    ) {
        let cadence = cadence(line, Berlin);
        let mut now = Utc.timestamp_opt(start, 0).unwrap();
        let mut last = now;
        let mut taken = std::collections::BTreeSet::new();
        for jump in jumps {
            now += TimeDelta::seconds(jump);
            if let Some(due) = cadence.due(last, now) {
                prop_assert!(taken.insert(due.slot));
                last = due.slot;
            }
        }
    }
}
