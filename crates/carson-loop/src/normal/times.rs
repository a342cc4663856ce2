//! Times of day and durations.

use super::token::Rest;

/// Units of a duration, the longest words first.
const UNITS: [&str; 22] = [
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "millisecond",
    "microsecond",
    "nanosecond",
    "seconds",
    "minutes",
    "second",
    "minute",
    "hours",
    "secs",
    "mins",
    "hour",
    "days",
    "hrs",
    "sec",
    "min",
    "day",
    "ms",
    "µs",
    "μs",
];
/// Units that are one letter or a little more, and mean nothing else.
const SHORT: [&str; 4] = ["ns", "us", "hr", "s"];
/// Letters that are units only beside another one: `1h 2m`, but not `5m`.
const BESIDE: &str = "hmd";

/// Behind a time of day, with its date and zone, that a text begins with. `before` is the letter before it.
pub(super) fn time(text: &str, before: Option<char>) -> Option<&str> {
    // `file.rs:12:34:56` is a place.
    if before.is_some_and(|c| c == ':' || c == '.') {
        return None;
    }
    let mut rest = Rest(text);
    let behind = rest
        .try_to(date_and_time)
        .or_else(|| rest.try_to(compact))
        .or_else(|| rest.try_to(clock))
        .or_else(|| rest.try_to(short_clock))
        .or_else(|| rest.try_to(stopwatch))
        .or_else(|| rest.try_to(epoch));
    behind.filter(|()| rest.is_at_end() && !goes_on(rest.0))?;
    Some(rest.0)
}

/// Whether a number of the same kind follows, so that it was none.
fn goes_on(rest: &str) -> bool {
    let behind = rest.strip_prefix([':', '.']);
    behind.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `2026-01-02T03:04:05.678Z`, `2026/01/02 03:04`, `2026-01-02T03_04_05_678Z`.
fn date_and_time(rest: &mut Rest<'_>) -> Option<()> {
    rest.digits(4..=4)?;
    rest.one_of("-/")?;
    rest.below(13, 1..=2)?;
    rest.one_of("-/")?;
    rest.below(32, 1..=2)?;
    rest.one_of(",");
    let is_joined = rest.one_of("Tt_ ")? != ' ';
    let between = if is_joined { ":_-" } else { ":" };
    rest.below(24, 1..=2)?;
    rest.one_of(between)?;
    rest.below(60, 2..=2)?;
    rest.try_to(|rest| {
        rest.one_of(between)?;
        rest.below(61, 2..=2)
    });
    if is_joined {
        rest.try_to(|rest| {
            rest.one_of("_-")?;
            rest.digits(3..=3)
        });
    }
    rest.fraction();
    zone(rest);
    Some(())
}

/// `20260102T030405Z`.
fn compact(rest: &mut Rest<'_>) -> Option<()> {
    rest.digits(8..=8)?;
    rest.one_of("Tt")?;
    rest.digits(6..=6)?;
    rest.fraction();
    zone(rest);
    Some(())
}

/// `03:04:05`, `3:04:05.678 PM`.
fn clock(rest: &mut Rest<'_>) -> Option<()> {
    rest.below(100, 1..=2)?;
    rest.one_of(":")?;
    rest.below(60, 2..=2)?;
    rest.one_of(":")?;
    rest.below(61, 2..=2)?;
    rest.fraction();
    rest.try_to(half);
    zone(rest);
    Some(())
}

/// `3:04 PM`; without the half of the day it would be a place in a file.
fn short_clock(rest: &mut Rest<'_>) -> Option<()> {
    rest.below(13, 1..=2)?;
    rest.one_of(":")?;
    rest.below(60, 2..=2)?;
    half(rest)?;
    zone(rest);
    Some(())
}

/// ` PM`; some put a narrow space before it.
fn half(rest: &mut Rest<'_>) -> Option<()> {
    rest.one_of(" \u{202f}\u{a0}");
    rest.one_of("AaPp")?;
    rest.one_of("Mm")?;
    rest.is_at_end().then_some(())
}

/// `0:01.23`, as `time` says it.
fn stopwatch(rest: &mut Rest<'_>) -> Option<()> {
    rest.digits(1..=3)?;
    rest.one_of(":")?;
    rest.below(60, 2..=2)?;
    rest.one_of(".")?;
    rest.digits(1..=9)?;
    Some(())
}

/// Seconds since 1970 with a fraction, or milliseconds, microseconds or nanoseconds, of these decades.
fn epoch(rest: &mut Rest<'_>) -> Option<()> {
    let digits = rest.digits(10..=19)?;
    let is_of_now = is_of_now(digits);
    match digits.len() {
        10 => {
            rest.one_of(".")?;
            rest.digits(3..=9)?;
        }
        13 | 16 | 19 => {}
        _ => return None,
    }
    is_of_now.then_some(())
}

/// Whether a number of so many digits may be a time since 1970, of these decades.
pub(super) fn is_of_now(digits: &str) -> bool {
    digits.len() >= 10 && ("15".."20").contains(&&digits[..2])
}

fn zone(rest: &mut Rest<'_>) {
    let named = rest.try_to(|rest| {
        rest.one_of(" ");
        ["UTC", "GMT", "Z"]
            .into_iter()
            .find_map(|zone| rest.try_to(|rest| rest.word(zone)))?;
        rest.is_at_end().then_some(())
    });
    let offset = |rest: &mut Rest<'_>| {
        rest.one_of(" ");
        rest.one_of("+-")?;
        rest.below(15, 2..=2)
            .or_else(|| rest.digits(4..=4).map(drop))?;
        rest.try_to(|rest| {
            rest.one_of(":")?;
            rest.below(60, 2..=2)
        });
        rest.is_at_end().then_some(())
    };
    if named.is_none() {
        rest.try_to(offset);
    }
}

/// Behind a duration that a text begins with: `12ms`, `0.5 s`, `1m 2.5s`, `3 minutes`.
pub(super) fn duration(text: &str, before: Option<char>) -> Option<&str> {
    // A part of a version is none.
    if before == Some('.') {
        return None;
    }
    let mut rest = Rest(text);
    let (mut parts, mut plain) = (0_u32, false);
    while let Some(is_plain) = rest.try_to(part) {
        plain |= is_plain;
        parts += 1;
        if parts >= 6 {
            break;
        }
        // The next part may stand apart.
        let mut next = rest;
        next.one_of(" ");
        if next.try_to(part).is_none() {
            break;
        }
        rest.one_of(" ");
    }
    let taken = &text[..text.len() - rest.0.len()];
    // Days alone are letters of a hash.
    let is_one = plain || parts > 1 && taken.contains(['h', 'm']);
    (is_one && rest.is_at_end()).then_some(rest.0)
}

/// Behind a number, with what is behind its point, that a text begins with.
pub(super) fn number(text: &str) -> Option<&str> {
    let mut rest = Rest(text);
    rest.digits(1..=15)?;
    rest.fraction();
    rest.is_at_end().then_some(rest.0)
}

/// A number and a unit; whether that is one by itself.
fn part(rest: &mut Rest<'_>) -> Option<bool> {
    rest.digits(1..=15)?;
    for _ in 0..4 {
        rest.fraction();
    }
    let is_apart = rest.one_of(" ").is_some();
    let named = |rest: &mut Rest<'_>, unit: &str| {
        let word = rest.0.get(..unit.len())?;
        // `2 S` is something else than `2 s`.
        (unit.len() > 2 || word == unit).then_some(())?;
        rest.word(unit)?;
        // In `1m2s` a number follows at once.
        let is_whole =
            rest.is_at_end() || !is_apart && rest.0.starts_with(|c: char| c.is_ascii_digit());
        is_whole.then_some(())
    };
    for unit in UNITS.iter().chain(&SHORT) {
        if rest.try_to(|rest| named(rest, unit)).is_some() {
            return Some(true);
        }
    }
    if is_apart {
        return None;
    }
    for unit in BESIDE.split("").filter(|unit| !unit.is_empty()) {
        if rest.try_to(|rest| named(rest, unit)).is_some() {
            return Some(false);
        }
    }
    None
}
