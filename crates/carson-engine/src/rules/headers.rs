//! When a provider may be asked again, out of the headers of a refusal.
//!
//! `retry-after` is the word for that, and comes first. The others tell of one limit each: when it
//! resets, and what of it remains; one of which something remains keeps nobody. A header that names
//! no time ahead, or one that no limit lasts to, says nothing.

use chrono::{DateTime, TimeDelta, Utc};

use super::reset;

/// No limit lasts longer.
const FARTHEST: TimeDelta = TimeDelta::days(8);

/// When to ask again, by the headers (names in lower case) of a refusal that came then.
#[must_use]
pub fn resets_at(headers: &[(String, String)], came: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let is_possible = |at: &DateTime<Utc>| *at > came && *at - came <= FARTHEST;
    let after = value_of(headers, "retry-after").and_then(|value| reset::header(value, came));
    let limits = headers.iter().filter(|(name, _)| name.contains("reset"));
    let limits = limits.filter(|(name, _)| is_used_up(headers, name));
    let limits = limits.filter_map(|(_, value)| time(value, came));
    after
        .filter(is_possible)
        .or_else(|| limits.filter(is_possible).max())
}

fn value_of<'h>(headers: &'h [(String, String)], wanted: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.as_str())
}

/// Whether nothing is known to remain of the limit that a header tells the reset of.
fn is_used_up(headers: &[(String, String)], reset: &str) -> bool {
    let remaining = value_of(headers, &reset.replace("reset", "remaining"));
    let remaining = remaining.and_then(|value| value.trim().parse::<f64>().ok());
    remaining.is_none_or(|remaining| remaining <= 0.0)
}

/// `2026-11-24T06:00:00Z`, seconds since 1970, `6m0s`, or seconds from then on.
fn time(value: &str, came: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let value = value.trim();
    if let Ok(at) = DateTime::parse_from_rfc3339(value) {
        return Some(at.to_utc());
    }
    if let Ok(number) = value.parse::<f64>() {
        return match number > FARTHEST.num_seconds() as f64 {
            true => DateTime::from_timestamp(number as i64, 0),
            false => reset::after(number, came),
        };
    }
    reset::after(reset::span(value)?, came)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn came() -> DateTime<Utc> {
        "2026-11-24T04:00:00Z".parse().unwrap()
    }

    fn seconds(headers: &[(&str, &str)]) -> Option<i64> {
        let headers: Vec<(String, String)> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        resets_at(&headers, came()).map(|at| (at - came()).num_seconds())
    }

    #[test]
    fn each_header_of_two_hours_says_two_hours() {
        let requests = "anthropic-ratelimit-requests-reset";
        for header in [
            ("retry-after", "7200"),
            ("retry-after", "Tue, 24 Nov 2026 06:00:00 GMT"),
            (requests, "2026-11-24T06:00:00Z"),
            ("anthropic-ratelimit-unified-reset", "1795500000"),
            ("x-ratelimit-reset-requests", "2h0m0s"),
            ("x-ratelimit-reset-tokens", "7200"),
        ] {
            let said = seconds(&[header]);
            assert_eq!(said, Some(7_200), "{header:?}");
        }
    }

    #[test]
    fn a_limit_of_which_something_remains_keeps_nobody() {
        let tokens = ("x-ratelimit-reset-tokens", "2h");
        let requests = ("x-ratelimit-reset-requests", "1m");
        let left = ("x-ratelimit-remaining-tokens", "900");
        let used_up = ("x-ratelimit-remaining-requests", "0");
        let all = [tokens, requests, left, used_up];
        assert_eq!(seconds(&all), Some(60));
        assert_eq!(seconds(&[tokens, requests]), Some(7_200));
        assert_eq!(seconds(&[tokens, left]), None);
        assert_eq!(seconds(&[tokens, ("retry-after", "5")]), Some(5));
    }

    #[test]
    fn nonsense_says_nothing() {
        for value in ["", "soon", "-5", "0", "NaN", "inf", "9000000000000000", "1"] {
            let reset = seconds(&[("anthropic-ratelimit-tokens-reset", value)]);
            assert_eq!(reset, (value == "1").then_some(1), "{value}");
        }
        let past = ("anthropic-ratelimit-tokens-reset", "2026-11-24T03:00:00Z");
        assert_eq!(seconds(&[past]), None);
        let far = ("retry-after", "691201");
        assert_eq!(seconds(&[far]), None);
        let near = ("x-ratelimit-reset-requests", "30s");
        assert_eq!(seconds(&[far, near]), Some(30), "it falls back");
    }

    proptest! {
        #[test]
        fn no_header_names_a_time_out_of_bounds(
            name in "(retry-after|(anthropic|x)-ratelimit-[a-z]{0,4}-?reset(-tokens)?)",
            value in "[-0-9a-zA-Z:.+ ]{0,40}", number in any::<f64>(),
        ) {
            for value in [value, number.to_string()] {
                let at = resets_at(&[(name.clone(), value)], came());
                prop_assert!(at.is_none_or(|at| at > came() && at - came() <= FARTHEST));
            }
        }
    }
}
