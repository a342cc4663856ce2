//! Versions of CLIs.

use std::fmt;

/// `2.1.329`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub(crate) [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// The first word that is one: `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
    #[must_use]
    pub fn find_in(text: &str) -> Option<Self> {
        text.lines().next()?.split_whitespace().find_map(Self::word)
    }

    fn word(word: &str) -> Option<Self> {
        let mut parts = word.split('.');
        let mut number = || parts.next()?.parse().ok();
        Some(Self([number()?, number()?, number()?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        let claude = Version::find_in("2.1.329 (Claude Code)\n").unwrap();
        assert_eq!(claude.to_string(), "2.1.329");
        assert_eq!(
            Version::find_in("codex-cli 0.169.0"),
            Some(Version([0, 169, 0]))
        );
        for none in ["v2.1.329", "", "2.1", "hello\n1.2.3"] {
            assert_eq!(Version::find_in(none), None, "{none}");
        }
        assert!(Version::find_in("2.1.1000") > Some(claude));
        assert!(Version::find_in("2.0.999") < Some(claude));
    }
}
