//! Durations as people write them: `45m`, `10s`, `2h30m`.

use std::time::Duration;

/// Units from large to small, with their milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// The longest duration that is accepted: beyond it calendars overflow, and nobody means it.
const LONGEST: Duration = Duration::from_secs(3_650 * 86_400);

/// Reads a duration: whole numbers with `d`, `h`, `m`, `s` or `ms`, the largest unit first, at
/// most ten years.
///
/// # Errors
/// What is wrong with it, as a sentence without its full stop.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let fail = |why: String| format!("{text:?} is not a duration: {why} (write 45m, 10s or 2h30m)");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(fail("it is empty".into()));
    }
    let mut total = Duration::ZERO;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let (part, unit_ms, after) = first_part(rest).map_err(fail)?;
        if unit_ms >= smallest {
            return Err(fail("units go from large to small, each once".into()));
        }
        total = total.saturating_add(part);
        if total > LONGEST {
            return Err(fail("it is longer than ten years".into()));
        }
        (smallest, rest) = (unit_ms, after);
    }
    Ok(total)
}

/// One number with its unit: the time, the unit's milliseconds, and the text after it.
fn first_part(text: &str) -> Result<(Duration, u64, &str), String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .ok_or_else(|| format!("{text} has no unit"))?;
    if digits == 0 {
        return Err(format!("a number is missing before {text:?}"));
    }
    let end = text[digits..]
        .find(|c: char| c.is_ascii_digit())
        .map_or(text.len(), |end| digits + end);
    let unit = &text[digits..end];
    let unit_ms = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, unit_ms)| *unit_ms)
        .ok_or_else(|| format!("{unit:?} is not one of the units d, h, m, s, ms"))?;
    // What does not fit is longer than ten years in any case.
    let number: u64 = text[..digits].parse().unwrap_or(u64::MAX);
    let part = Duration::from_millis(number.saturating_mul(unit_ms));
    Ok((part, unit_ms, &text[end..]))
}

/// Writes a duration the same way, in whole milliseconds.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let mut ms = duration.as_millis();
    let mut text = String::new();
    for (unit, unit_ms) in UNITS {
        let unit_ms = u128::from(unit_ms);
        if ms >= unit_ms {
            text.push_str(&format!("{}{unit}", ms / unit_ms));
            ms %= unit_ms;
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_mistake_has_its_own_words() {
        for (bad, why) in [
            ("", "it is empty"),
            ("45", "45 has no unit"),
            ("m", "a number is missing"),
            ("-1s", "a number is missing"),
            ("1.5h", "\".\" is not one of the units"),
            ("1 h", "\" h\" is not one of the units"),
            ("5x", "\"x\" is not one of the units"),
            ("1m1h", "units go from large to small"),
            ("1m1m", "units go from large to small"),
            ("99999999999999999999s", "longer than ten years"),
            ("3651d", "longer than ten years"),
        ] {
            let error = parse_duration(bad).unwrap_err();
            assert!(error.contains(why), "{bad:?}: {error}");
        }
        assert_eq!(parse_duration(" 2h30m ").unwrap().as_secs(), 9_000);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ms in 0..=315_360_000_000_u64) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics_and_no_duration_is_out_of_bounds(text in "[0-9dhms. -]{0,12}|\\PC{0,8}") {
            if let Ok(duration) = parse_duration(&text) {
                prop_assert!(duration <= LONGEST);
                prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
            }
        }
    }
}
