//! Patterns that are written in the code.

use regex::{Regex, bytes};

/// One for text.
#[expect(
    clippy::expect_used,
    reason = "it is written in the code, and tried by every test"
)]
pub(super) fn of_text(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// One for bytes.
#[expect(
    clippy::expect_used,
    reason = "it is written in the code, and tried by every test"
)]
pub(super) fn of_bytes(pattern: &str) -> bytes::Regex {
    bytes::Regex::new(pattern).expect("a pattern")
}
