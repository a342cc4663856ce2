//! When a limit ends, out of what the provider says.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use serde_json::Value;

/// Before one of these words stands a time or a date, or a span after it.
const LEADS: [&str; 8] = [
    "try again at ",
    "try again in ",
    "resets at ",
    "resets in ",
    "resets ",
    "retry after ",
    "retry in ",
    "available again at ",
];

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The longest span that is worth reading; the caller's horizon is far below.
const LONGEST_S: f64 = 1e10;

/// Seconds since 1970, or milliseconds; a number or a text.
pub(super) fn epoch(value: &Value) -> Option<DateTime<Utc>> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        other => other
            .as_i64()
            .or_else(|| other.as_f64().map(|f| f as i64))?,
    };
    // In seconds this would be the year 5138.
    let seconds = if number > 99_999_999_999 && number % 1000 == 0 || number > 999_999_999_999 {
        number / 1000
    } else {
        number
    };
    (number > 0).then(|| DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MAX_UTC))
}

/// The header: seconds, or a date of RFC 2822.
pub(super) fn retry_after(value: &Value, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    match value {
        Value::String(text) => header(text, now),
        other => header(&other.to_string(), now),
    }
}

/// What the header `retry-after` of an answer that came `now` says: when to ask again.
pub(super) fn header(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return after(seconds, now);
    }
    let date = DateTime::parse_from_rfc2822(text.trim()).ok()?;
    Some(date.with_timezone(&Utc))
}

pub(super) fn after(seconds: f64, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if !(0.0..LONGEST_S).contains(&seconds) {
        return None;
    }
    // Up: a little late is right, a little early meets the limit again.
    now.checked_add_signed(TimeDelta::try_seconds(seconds.ceil() as i64)?)
}

/// `try again at 5:46 am`, `resets 5:46am (utc)`, `resets nov 25 at 5pm`, `try again in 20s`,
/// `try again in 3 days 4 hours`, `retry after 1s`; in lower case with single spaces.
pub(super) fn text(
    plain: &str,
    now: DateTime<Utc>,
    local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    LEADS.iter().find_map(|lead| {
        let at = plain.find(lead)? + lead.len();
        let rest = &plain[at..];
        instant(rest)
            .or_else(|| span(rest).and_then(|seconds| after(seconds, now)))
            .or_else(|| wall_clock(rest, now, local))
    })
}

/// `2026-11-21t05:46:00z`
fn instant(rest: &str) -> Option<DateTime<Utc>> {
    let word = rest.split(' ').next()?.trim_end_matches(['.', ',', ')']);
    let at = DateTime::parse_from_rfc3339(&word.to_uppercase()).ok()?;
    Some(at.with_timezone(&Utc))
}

/// Numbers with their units, as long as they go on: seconds.
pub(super) fn span(rest: &str) -> Option<f64> {
    let mut left = rest;
    let mut total = None;
    loop {
        left = left.trim_start_matches([' ', ',']);
        left = left.strip_prefix("and ").unwrap_or(left);
        let digits = left
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(left.len());
        let Ok(number) = left[..digits].parse::<f64>() else {
            break;
        };
        let tail = left[digits..].trim_start();
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let Some(unit) = unit(&tail[..letters]) else {
            break;
        };
        total = Some(total.unwrap_or(0.0) + number * unit);
        left = &tail[letters..];
    }
    total
}

fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "ms" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// A time of day, perhaps behind a date; the next one there is.
fn wall_clock(
    rest: &str,
    now: DateTime<Utc>,
    local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let zone = Zone::of(rest);
    let (date, rest) = date(rest, now);
    let time = time_of_day(rest)?;
    let resolve = |day: NaiveDate| zone.resolve(day.and_time(time), local);
    if let Some((day, has_year)) = date {
        let at = resolve(day);
        let passed = at.is_none_or(|at| at <= now);
        return match day.with_year(day.year() + 1) {
            Some(next) if passed && !has_year => resolve(next),
            _ => at,
        };
    }
    // The day is that of a zone somewhere: it may be yesterday or tomorrow here.
    let today = now.date_naive();
    let first = today.pred_opt()?;
    (0..4)
        .filter_map(|days| resolve(first.checked_add_days(Days::new(days))?))
        .find(|at| *at > now)
}

/// `nov 25th, 2026 `, `nov 25 at `: the day, whether its year was named, and what follows.
fn date(rest: &str, now: DateTime<Utc>) -> (Option<(NaiveDate, bool)>, &str) {
    let none = (None, rest);
    let Some(month) = MONTHS.iter().position(|month| rest.starts_with(month)) else {
        return none;
    };
    let Some((_, tail)) = rest.split_once(' ') else {
        return none;
    };
    let Some((day, mut tail)) = number(tail) else {
        return none;
    };
    for end in ["st", "nd", "rd", "th"] {
        tail = tail.strip_prefix(end).unwrap_or(tail);
    }
    tail = tail.trim_start_matches([',', ' ']);
    let year = number(tail).filter(|(year, _)| (2000..=9999).contains(year));
    let has_year = year.is_some();
    let (year, tail) = year.unwrap_or((now.year().unsigned_abs(), tail));
    let tail = tail.trim_start_matches([',', ' ']);
    let tail = tail.strip_prefix("at ").unwrap_or(tail);
    let month = u32::try_from(month + 1).unwrap_or(1);
    let day = i32::try_from(year)
        .ok()
        .and_then(|year| NaiveDate::from_ymd_opt(year, month, day));
    (day.map(|day| (day, has_year)), tail)
}

fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// `5:46 am`, `5am`, `17:46`; a bare number is none.
fn time_of_day(rest: &str) -> Option<NaiveTime> {
    let (hour, tail) = number(rest)?;
    let minutes = tail.strip_prefix(':').and_then(number);
    let (minute, tail) = minutes.unwrap_or((0, tail));
    let tail = tail.trim_start();
    let hour = if tail.starts_with("am") || tail.starts_with("a.m") {
        hour % 12 + if hour > 12 { 24 } else { 0 }
    } else if tail.starts_with("pm") || tail.starts_with("p.m") {
        hour % 12 + if hour > 12 { 24 } else { 12 }
    } else if minutes.is_some() {
        hour
    } else {
        return None;
    };
    NaiveTime::from_hms_opt(hour, minute, 0)
}

/// The zone that a wall-clock time is in.
enum Zone {
    Utc,
    Named(chrono_tz::Tz),
    Local,
}

impl Zone {
    /// `(utc)`, `(europe/berlin)`, or none: that of this machine, in which CLIs print.
    fn of(rest: &str) -> Self {
        let within = rest
            .split_once('(')
            .and_then(|(_, tail)| tail.split_once(')'));
        match within.map(|(name, _)| name.trim()) {
            Some("utc" | "gmt") => Self::Utc,
            Some(name) => {
                let mut zones = chrono_tz::TZ_VARIANTS.iter();
                let zone = zones.find(|zone| zone.name().eq_ignore_ascii_case(name));
                zone.map_or(Self::Local, |zone| Self::Named(*zone))
            }
            None if rest.contains(" utc") || rest.contains(" gmt") => Self::Utc,
            None => Self::Local,
        }
    }

    fn resolve(
        &self,
        at: NaiveDateTime,
        local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        match self {
            Self::Utc => Some(at.and_utc()),
            // Of two times with one name, the later: too early meets the limit again.
            Self::Named(zone) => at
                .and_local_timezone(*zone)
                .latest()
                .map(|at| at.with_timezone(&Utc)),
            Self::Local => local(at),
        }
    }
}
