//! Where in a document something stands (RFC 6901).

use std::fmt;

/// A JSON pointer; the whole document is the empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The document itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// What stands under a key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{key}", self.0))
    }

    /// An item of a list.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The pointer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Keys are anybody's words: what nobody sees is shown.
impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if carson_core::untrusted::is_hidden(c) {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_stands_there() {
        let at = Pointer::root().key("stories").item(3).key("a/b~c");
        assert_eq!(at.as_str(), "/stories/3/a~1b~0c");
        assert_eq!(Pointer::root().as_str(), "");
    }

    #[test]
    fn hidden_letters_of_a_key_are_seen() {
        assert_eq!(
            Pointer::root().key("a\u{202e}b").to_string(),
            "/a\\u{202e}b"
        );
    }
}
