//! What a tool printed, without what looks like a secret: by ralph-loop's four patterns, which its users know
//! (`[REDACTED]`), then by all that Carson knows.

use std::borrow::Cow;
use std::sync::LazyLock;

use carson_redact::Redactor;
use regex::bytes::Regex;

use super::pattern::of_bytes as pattern;

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i-u)((?:TOKEN|SECRET|PASSWORD|API_KEY|ACCESS_KEY|PRIVATE_KEY)[A-Za-z0-9_]*=)[^\s]+")
});
static BEARER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)(Authorization:[ \t]*Bearer[ \t])[^\s]+"));
static KEY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)AKIA[0-9A-Z]{16}|\b(?:sk|rk|pk)-[A-Za-z0-9_-]{10,}"));

/// The text without secrets.
#[must_use]
pub fn redacted(text: &[u8], redactor: &Redactor) -> Vec<u8> {
    let text = NAMED.replace_all(text, b"${1}[REDACTED]".as_slice());
    let text = BEARER
        .replace_all(&text, b"${1}[REDACTED]".as_slice())
        .into_owned();
    let text = KEY.replace_all(&text, b"[REDACTED]".as_slice());
    match redactor.redact_bytes(&text) {
        Cow::Borrowed(_) => text.into_owned(),
        Cow::Owned(text) => text,
    }
}

/// The last lines of a text.
#[must_use]
pub fn last_lines(text: &[u8], most: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(most);
    lines[from..].iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let redactor = Redactor::new([]);
        for (text, right) in [
            ("API_KEY=supersecret-value next", "API_KEY=[REDACTED] next"),
            ("MY_github_TOKEN_2=x y", "MY_github_TOKEN_2=[REDACTED] y"),
            ("password=x", "password=[REDACTED]"),
            (
                "Authorization: Bearer topsecret-token-value",
                "Authorization: Bearer [REDACTED]",
            ),
            ("authorization:bearer x", "authorization:bearer [REDACTED]"),
            ("AKIAABCDEFGHIJKLMNOP", "[REDACTED]"),
            ("use sk-abcdefghij_k now", "use [REDACTED] now"),
            ("task-abcdefghijk stays", "task-abcdefghijk stays"),
            ("a plain line", "a plain line"),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&redacted(text.as_bytes(), &redactor)),
                right
            );
        }
    }

    #[test]
    fn the_end_is_kept() {
        let text = "1\n2\n3\n\n";
        assert_eq!(last_lines(text.as_bytes(), 2), ["2", "3"]);
        assert!(last_lines(b"", 2).is_empty());
    }
}
