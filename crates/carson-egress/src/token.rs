//! What a firing's own processes show to use its proxy.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq as _;

/// The user name in the proxy's address; only the token counts.
pub(crate) const USER: &str = "carson";

/// A token of one firing. It opens this proxy and nothing else, and ends with it.
pub struct Token {
    text: String,
    /// As a client sends it in `Proxy-Authorization`.
    basic: String,
}

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // A prefix that no secret scanner takes for a provider's key.
        let text = format!("carson-firing-{hex}");
        let basic = format!("Basic {}", STANDARD.encode(format!("{USER}:{text}")));
        Ok(Self { text, basic })
    }

    /// The token itself, for the environment of a session.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a value of `Proxy-Authorization` is this one; takes as long wherever it differs.
    pub(crate) fn is_basic(&self, value: &[u8]) -> bool {
        // The scheme's name may be written in any way.
        let scheme = value
            .get(..6)
            .is_some_and(|it| it.eq_ignore_ascii_case(b"basic "));
        scheme && self.basic.as_bytes()[6..].ct_eq(&value[6..]).into()
    }

    /// Whether this is the token itself.
    pub(crate) fn is(&self, value: &[u8]) -> bool {
        self.text.as_bytes().ct_eq(value).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token([hidden])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_counts() {
        let (token, other) = (Token::new().unwrap(), Token::new().unwrap());
        let basic = token.basic.clone();
        assert!(token.is_basic(basic.as_bytes()));
        assert!(token.is_basic(basic.replacen("Basic", "bAsIc", 1).as_bytes()));
        assert!(!other.is_basic(basic.as_bytes()));
        for wrong in [&basic[..basic.len() - 1], "Basic ", "Basic", "Bearer x", ""] {
            assert!(!token.is_basic(wrong.as_bytes()), "{wrong}");
        }
        assert!(token.is(token.text().as_bytes()));
        assert!(!token.is(b"") && !token.is(other.text().as_bytes()));
        assert!(!format!("{token:?}").contains(token.text()));
    }
}
