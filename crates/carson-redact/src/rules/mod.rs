//! The rules: by what a credential is recognised, and where it ends.

use std::sync::LazyLock;

use crate::runs::Runs;
use crate::scan::{Open, Span};

mod address;
mod assigned;
mod jwt;
pub(crate) mod pem;
mod table;
mod tail;

pub(crate) use tail::Tail;

/// Name of the rule for values that Carson holds itself.
pub const KNOWN: &str = "known";

/// One rule.
pub(crate) struct Rule {
    /// Its name in `[redacted:NAME]` and in `allow_secrets`.
    pub name: &'static str,
    /// Texts at which it looks.
    pub anchors: &'static [&'static str],
    /// What it says about the surroundings of one of them.
    pub look: fn(&Self, &Around<'_>, &mut Runs) -> Verdict,
    /// What follows the anchor, for rules that are no more than that.
    pub tail: Tail,
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
    fn goes(&self, start: usize, end: usize, open: Option<Open>) -> Verdict {
        Verdict::Goes(Span {
            start,
            end,
            rule: self.name,
            open,
        })
    }
}

impl<'t> Around<'t> {
    fn found(&self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    fn before(&self) -> &'t [u8] {
        &self.text[..self.start]
    }

    fn after(&self) -> &'t [u8] {
        &self.text[self.end..]
    }
}

/// One text of the automaton.
pub(crate) struct Anchor {
    pub text: &'static str,
    pub rule: &'static Rule,
}

pub(crate) static ANCHORS: LazyLock<Vec<Anchor>> = LazyLock::new(|| {
    let anchors = table::RULES.iter().flat_map(|rule| {
        let of = move |text: &&'static str| Anchor { text, rule };
        rule.anchors.iter().map(of)
    });
    anchors.collect()
});

/// The names of all rules but [`KNOWN`].
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = table::RULES.iter().map(|rule| rule.name).collect();
    names.dedup();
    names
}

/// Whether what follows would be the middle of a word. The last character of an escape is no part
/// of one: `\n` or `\u000a` in JSON and in logs, `%0A` in addresses.
fn ends_in_a_word(text: &[u8]) -> bool {
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
