//! What is tried again, and when.

use std::time::Duration;

use carson_core::Clock;
use chrono::DateTime;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::model::EndpointError;

/// How often one answer is asked for.
const TRIES: u32 = 4;
/// The longest that is waited between two tries.
const LONGEST: Duration = Duration::from_secs(60);
/// What is waited after the first try.
const FIRST: Duration = Duration::from_millis(500);

/// How long to wait after so many tries that ended so; `None` when it is not tried again.
#[must_use]
pub fn wait_after(tries: u32, error: &EndpointError) -> Option<Duration> {
    if tries >= TRIES {
        return None;
    }
    let growing = FIRST * 2_u32.pow(tries.saturating_sub(1));
    match error {
        EndpointError::Unreachable(_) | EndpointError::Broken(_) => Some(growing),
        EndpointError::Refused {
            status: 408 | 429 | 500..,
            retry_after,
            ..
        } => {
            // Who asks for more than that is not waited for: whoever started us knows better.
            Some(retry_after.unwrap_or(growing)).filter(|wait| *wait <= LONGEST)
        }
        _ => None,
    }
}

/// How long an answer asks to wait: a number of seconds, or until a time (RFC 9110, 10.2.3).
#[must_use]
pub fn asked(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = DateTime::parse_from_rfc2822(text).ok()?;
    let wait = until.signed_duration_since(Clock::system().now());
    Some(wait.to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, seconds: Option<u64>) -> EndpointError {
        EndpointError::Refused {
            status,
            retry_after: seconds.map(Duration::from_secs),
            said: String::new(),
        }
    }

    #[test]
    fn what_may_pass_is_tried_again_for_a_bounded_time() {
        for status in [408, 429, 500, 503, 529] {
            assert!(wait_after(1, &refused(status, None)).is_some(), "{status}");
            assert_eq!(wait_after(TRIES, &refused(status, None)), None);
        }
        for status in [400, 401, 403, 404, 422] {
            assert_eq!(wait_after(1, &refused(status, Some(1))), None, "{status}");
        }
        let asked = |seconds| wait_after(1, &refused(429, Some(seconds)));
        assert_eq!(asked(7), Some(Duration::from_secs(7)));
        assert_eq!(asked(7200), None);
        let silent = EndpointError::Silent(Duration::from_secs(1));
        assert_eq!(wait_after(1, &silent), None, "it was waited for already");
    }

    #[test]
    fn the_wish_to_wait_is_read_in_seconds() {
        let asked = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            asked(&headers)
        };
        assert_eq!(asked("2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(asked("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let years = asked("Sat, 21 Oct 2220 07:28:00 GMT").unwrap();
        assert!(years > Duration::from_secs(3_000_000_000), "{years:?}");
        for none in ["-1", "soon", "1e400", "NaN"] {
            assert_eq!(asked(none), None, "{none}");
        }
    }
}
