//! The search contract: a report of a run that may search names its sources, by address and by day.

use std::sync::LazyLock;

use regex::bytes::Regex;
use thiserror::Error;

use super::pattern::of_bytes as pattern;

static SECTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m-u)^##[ \t\r\x0b\x0c]+External References[ \t\r\x0b\x0c]*$"));
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?-u)\[[^\]\[\n]+\]\(https?://[^)\n]+\)|https?://[^\s)]+|www\.[^\s)]+")
});
static DAY: LazyLock<Regex> = LazyLock::new(|| pattern("(?-u)20[0-9]{2}-[0-9]{2}-[0-9]{2}"));

/// What a report lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Lacks {
    /// The section.
    #[error("missing_external_references_section")]
    Section,
    /// An address.
    #[error("missing_external_reference_links")]
    Link,
    /// A day.
    #[error("missing_external_reference_dates")]
    Day,
}

impl Lacks {
    /// The code by which a run says so.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Section => 41,
            Self::Link => 42,
            Self::Day => 43,
        }
    }
}

/// Holds a report against the contract.
///
/// # Errors
/// The first that it lacks.
pub fn named_sources(report: &[u8]) -> Result<(), Lacks> {
    for (pattern, lacks) in [
        (&SECTION, Lacks::Section),
        (&LINK, Lacks::Link),
        (&DAY, Lacks::Day),
    ] {
        if !pattern.is_match(report) {
            return Err(lacks);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let code = |text: &str| named_sources(text.as_bytes()).map_err(Lacks::code);
        let section = "# R\n## External References\n";
        for (text, right) in [
            ("# R\nnothing", Err(41)),
            (
                "# R\n### External References\nhttps://a.b 2026-01-02",
                Err(41),
            ),
            (
                "# R\n## External References of ours\nhttps://a.b 2026-01-02",
                Err(41),
            ),
            ("x ## External References\nhttps://a.b 2026-01-02", Err(41)),
            (section, Err(42)),
            (&format!("{section}http:// 2026-01-02"), Err(42)),
            (&format!("{section}- [A](https://a.example/x)"), Err(43)),
            (
                &format!("{section}- [A](https://a.example/x) (accessed: 2026-02-17)"),
                Ok(()),
            ),
            (&format!("{section}- www.a.example 2026-02-17"), Ok(())),
            (&format!("{section}- www.a.example 1999-02-17"), Err(43)),
            (
                "## \tExternal References  \nhttps://a.b on 2026-01-02",
                Ok(()),
            ),
        ] {
            assert_eq!(code(text), right, "{text:?}");
        }
        assert_eq!(
            named_sources(b"## External References\n\xff https://a 2026-01-02"),
            Ok(())
        );
    }
}
