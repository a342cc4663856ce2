//! How far a run of characters of one alphabet goes.

/// Characters that a credential is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// And `_`.
    Word,
    /// And `-`.
    Dashed,
    /// Both.
    WordDashed,
    /// And `.`.
    Dotted,
    /// Base64 with its padding.
    Base64,
    /// Base64 and what appears in its URL form, and `/` and `.`: anything a token is.
    Any,
}

impl Alphabet {
    pub(crate) fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Alnum => false,
                Self::Word => byte == b'_',
                Self::Dashed => byte == b'-',
                Self::WordDashed => b"-_".contains(&byte),
                Self::Dotted => b"-_.".contains(&byte),
                Self::Base64 => b"+/=".contains(&byte),
                Self::Any => b"+/=-_.~".contains(&byte),
            }
    }
}

/// Remembers the last run of each alphabet, so that a long run with many anchors is read once.
#[derive(Default)]
pub(crate) struct Runs([(usize, usize); 7]);

impl Runs {
    /// Where the run that `at` stands in ends.
    pub(crate) fn end(&mut self, text: &[u8], at: usize, alphabet: Alphabet) -> usize {
        let known = &mut self.0[alphabet as usize];
        if !(known.0 <= at && at < known.1) {
            let rest = &text[at.min(text.len())..];
            let length = rest.iter().position(|byte| !alphabet.has(*byte));
            *known = (at, at + length.unwrap_or(rest.len()));
        }
        known.1
    }
}
