//! The provider's limits, as Claude Code reads them off a response.
//!
//! The header names are those the CLI looks up; what it makes of them was measured with 2.1.329.

use super::Reply;

/// A usage window of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The rolling five hours.
    FiveHours,
    /// The rolling week.
    SevenDays,
}

impl Window {
    fn claim(self) -> &'static str {
        match self {
            Self::FiveHours => "five_hour",
            Self::SevenDays => "seven_day",
        }
    }

    fn short(self) -> &'static str {
        match self {
            Self::FiveHours => "5h",
            Self::SevenDays => "7d",
        }
    }
}

/// A plain 429 with `retry-after` in seconds. The CLI waits for a short one and tries again; it
/// fails at once on a long one such as 3600.
#[must_use]
pub fn too_many_requests(retry_after: u64) -> Reply {
    Reply::error(
        429,
        "rate_limit_error",
        "This request would exceed your rate limit.",
    )
    .header("retry-after", retry_after)
}

/// The subscription's five-hour window is used up until `reset` (seconds since the epoch). Needs
/// a subscription's sign-in: `CLAUDE_CODE_OAUTH_TOKEN` instead of `ANTHROPIC_API_KEY`.
#[must_use]
pub fn subscription_limit(reset: i64) -> Reply {
    Reply::error(
        429,
        "rate_limit_error",
        "This request would exceed your account's rate limit.",
    )
    .headers(window_headers(Window::FiveHours, "rejected", 1.0, reset))
    .header("anthropic-ratelimit-unified-overage-status", "rejected")
    .header(
        "anthropic-ratelimit-unified-overage-disabled-reason",
        "org_level_disabled",
    )
}

/// The headers that tell how full a window is (`0.0..1.0`), to be added to a message with
/// [`Reply::headers`]. From 0.9 on it is a warning.
#[must_use]
pub fn subscription_usage(window: Window, utilization: f64, reset: i64) -> Vec<(String, String)> {
    let warns = utilization >= 0.9;
    let status = if warns { "allowed_warning" } else { "allowed" };
    let mut headers = window_headers(window, status, utilization, reset);
    if warns {
        let name = format!(
            "anthropic-ratelimit-unified-{}-surpassed-threshold",
            window.short()
        );
        headers.push((name, "0.9".to_owned()));
    }
    headers
}

fn window_headers(
    window: Window,
    status: &str,
    utilization: f64,
    reset: i64,
) -> Vec<(String, String)> {
    let short = window.short();
    [
        ("status".to_owned(), status.to_owned()),
        ("reset".to_owned(), reset.to_string()),
        ("representative-claim".to_owned(), window.claim().to_owned()),
        (format!("{short}-status"), status.to_owned()),
        (format!("{short}-utilization"), utilization.to_string()),
        (format!("{short}-reset"), reset.to_string()),
    ]
    .map(|(name, value)| (format!("anthropic-ratelimit-unified-{name}"), value))
    .into()
}
