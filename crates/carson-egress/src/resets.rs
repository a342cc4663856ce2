//! What a refusal's headers say of when its provider may be asked again. They are kept as they stand:
//! what they mean is the business of whoever knows the time.

use hyper::StatusCode;
use hyper::header::{HeaderMap, RETRY_AFTER};

/// Names, in lower case, and values.
pub type Headers = Vec<(String, String)>;

/// Headers of one answer that are kept.
const MOST: usize = 24;
/// Letters that one may have.
const LONGEST: usize = 64;
/// How those begin that tell of limits; of each there is when it resets, and what remains.
const LIMITS: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

/// Those of an answer that is no success. Limits are told with any answer: only where one was met do they say
/// when to come again.
pub(crate) fn of_refusal(status: StatusCode, headers: &HeaderMap) -> Headers {
    let is_limit = status == StatusCode::TOO_MANY_REQUESTS;
    let counts = |name: &str| {
        name == RETRY_AFTER.as_str()
            || is_limit
                && LIMITS.iter().any(|limit| name.starts_with(limit))
                && ["reset", "remaining"]
                    .iter()
                    .any(|word| name.contains(word))
    };
    let kept = headers.iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        let fits = counts(name.as_str()) && value.len() <= LONGEST;
        fits.then(|| (name.as_str().to_owned(), value.to_owned()))
    });
    kept.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_a_limit_has_limits_to_tell_of() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("retry-after", "7"),
            ("x-ratelimit-reset-requests", "2h0m0s"),
            ("x-ratelimit-remaining-requests", "0"),
            ("anthropic-ratelimit-unified-reset", "1795240000"),
            ("anthropic-ratelimit-unified-status", "rejected"),
            ("x-request-id", "reset"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let names = |status| {
            let kept = of_refusal(status, &headers).into_iter();
            let mut names: Vec<String> = kept.map(|(name, _)| name).collect();
            names.sort();
            names
        };
        let limit = names(StatusCode::TOO_MANY_REQUESTS);
        let wanted = [
            "anthropic-ratelimit-unified-reset",
            "retry-after",
            "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests",
        ];
        assert_eq!(limit, wanted);
        assert_eq!(names(StatusCode::SERVICE_UNAVAILABLE), ["retry-after"]);
    }

    #[test]
    fn what_is_absurdly_long_is_not_kept() {
        let mut headers = HeaderMap::new();
        let long = "9".repeat(LONGEST + 1);
        headers.insert(RETRY_AFTER, HeaderValue::from_str(&long).unwrap());
        assert!(of_refusal(StatusCode::TOO_MANY_REQUESTS, &headers).is_empty());
    }
}
