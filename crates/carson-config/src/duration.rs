//! Durations as people write them: `45m`, `10s`, `2h30m`.

use std::time::Duration;

/// Reads a duration: whole numbers with `d`, `h`, `m`, `s` or `ms`, the largest unit first.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("{text:?} is not a duration (write 45m, 10s or 2h30m)");
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    let mut last = u64::MAX;
    if rest.is_empty() {
        return Err(bad());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
        let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit());
        let unit_end = unit_end.map_or(rest.len(), |end| digits + end);
        let unit_ms = match &rest[digits..unit_end] {
            "d" => 86_400_000,
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1_000,
            "ms" => 1,
            _ => return Err(bad()),
        };
        if unit_ms >= last {
            return Err(bad());
        }
        last = unit_ms;
        let part = number.checked_mul(unit_ms).ok_or_else(bad)?;
        total = total
            .checked_add(Duration::from_millis(part))
            .ok_or_else(bad)?;
        rest = &rest[unit_end..];
    }
    Ok(total)
}

/// Writes a duration the same way.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let mut ms = duration.as_millis();
    let mut text = String::new();
    for (unit, unit_ms) in [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
        ("ms", 1),
    ] {
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
    use super::*;

    #[test]
    fn durations_read_back() {
        for text in ["45m", "10s", "2h30m", "1d2h3m4s5ms", "0s"] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), text);
        }
        for bad in [
            "",
            "45",
            "m",
            "1m1h",
            "1.5h",
            "-1s",
            "1 h",
            "99999999999999999999s",
            "5x",
        ] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
