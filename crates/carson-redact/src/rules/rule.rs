//! What a rule is, and what it is asked.

use crate::runs::{Alphabet, Runs};
use crate::span::{Open, Span};

/// One rule.
pub(crate) struct Rule {
    /// Its name in `[redacted:NAME]` and in `allow_secrets`.
    pub name: &'static str,
    /// Texts at which it looks.
    pub anchors: &'static [&'static str],
    /// What it says about the surroundings of one of them.
    pub judge: fn(&Self, &Around<'_>, &mut Runs) -> Verdict,
    /// What follows the anchor, for rules that are no more than that.
    pub tail: Tail,
}

/// What follows a prefix.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    pub alphabet: Alphabet,
    /// Least length.
    pub least: usize,
    /// Greatest length.
    pub most: usize,
    /// Whether the prefix alone is a word that people write, so that the tail must look like none.
    pub random: bool,
    /// Whether it has a digit.
    pub digits: bool,
    /// What each character must be, where the alphabet is not strict enough.
    pub each: fn(u8) -> bool,
}

/// An anchor in a text. It was found without regard to case.
pub(crate) struct Around<'t> {
    pub text: &'t [u8],
    pub start: usize,
    pub end: usize,
    /// Whether nothing follows the text.
    pub complete: bool,
}

/// What a rule says.
pub(crate) enum Verdict {
    No,
    Goes(Span),
    /// More of the text must be there first; from here on nothing may be handed on.
    Undecided(usize),
}

impl Rule {
    pub(super) fn goes(&self, start: usize, end: usize, open: Option<Open>) -> Verdict {
        Verdict::Goes(Span {
            start,
            end,
            rule: self.name,
            open,
        })
    }
}

impl<'t> Around<'t> {
    pub(super) fn found(&self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    pub(super) fn before(&self) -> &'t [u8] {
        &self.text[..self.start]
    }

    pub(super) fn after(&self) -> &'t [u8] {
        &self.text[self.end..]
    }
}

/// Whether what follows would be the middle of a word. The last character of an escape is no part
/// of one: `\n` or `\u000a` in JSON and in logs, `%0A` in addresses.
pub(super) fn ends_in_a_word(text: &[u8]) -> bool {
    let escaped = |opening: &[u8], digits: usize| {
        let (rest, last) = text.split_at(text.len().saturating_sub(digits));
        rest.ends_with(opening) && last.iter().all(u8::is_ascii_hexdigit)
    };
    match text {
        [.., b'\\', _] => false,
        [.., last] if last.is_ascii_alphanumeric() => {
            !(escaped(b"%", 2) || escaped(b"\\x", 2) || escaped(b"\\u", 4) || colour(text))
        }
        _ => false,
    }
}

/// Whether it ends in a terminal's colour, such as `ESC[32m`; JSON writes the escape as `\u001b`.
fn colour(text: &[u8]) -> bool {
    let Some(rest) = text.strip_suffix(b"m") else {
        return false;
    };
    let from = rest.len().saturating_sub(12);
    let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    let cut = rest[from..].iter().rposition(|byte| !digits(byte));
    cut.is_some_and(|at| rest[from + at] == b'[')
}
