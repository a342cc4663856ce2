//! A prefix and a tail of a known alphabet and length.

use super::rule::{Around, Rule, Tail, Verdict, ends_in_a_word};
use crate::random::{entropy, is_random};
use crate::runs::{Alphabet, Runs};
use crate::span::Open;

/// Below this a tail is a placeholder: `ghp_xxxxxxxxxxxxxxxxxxxx`.
const LEAST_ENTROPY: f64 = 2.6;

/// Where the digits of a tail are looked for: it may be as long as the text, and begin anew with
/// every prefix in it.
const LOOKED_AT: usize = 256;

impl Rule {
    /// A prefix with a tail of at least `least` characters.
    pub(super) const fn tail(
        name: &'static str,
        anchors: &'static [&'static str],
        alphabet: Alphabet,
        least: usize,
    ) -> Self {
        Self {
            name,
            anchors,
            judge: prefixed,
            tail: Tail {
                alphabet,
                least,
                most: usize::MAX,
                random: false,
                digits: false,
                each: |_| true,
            },
        }
    }

    /// The tail has at most so many characters.
    pub(super) const fn most(mut self, most: usize) -> Self {
        self.tail.most = most;
        self
    }

    /// The tail must look random.
    pub(super) const fn random(mut self) -> Self {
        self.tail.random = true;
        self
    }

    /// The tail has a digit.
    pub(super) const fn with_digits(mut self) -> Self {
        self.tail.digits = true;
        self
    }

    /// The tail has only such characters.
    pub(super) const fn made_of(mut self, each: fn(u8) -> bool) -> Self {
        self.tail.each = each;
        self
    }
}

fn prefixed(rule: &Rule, around: &Around<'_>, runs: &mut Runs) -> Verdict {
    let exact = rule
        .anchors
        .iter()
        .any(|anchor| anchor.as_bytes() == around.found());
    if !exact || ends_in_a_word(around.before()) {
        return Verdict::No;
    }
    let tail = rule.tail;
    let end = runs.end(around.text, around.end, tail.alphabet);
    let length = end - around.end;
    let cut = end == around.text.len() && !around.complete;
    if cut && (length < tail.least || tail.most != usize::MAX && length <= tail.most) {
        return Verdict::Undecided(around.start);
    }
    let content = &around.text[around.end..end];
    if length < tail.least
        || length > tail.most
        || entropy(content) < LEAST_ENTROPY
        || tail.random && !looks_made(content)
        || tail.digits && !content.iter().take(LOOKED_AT).any(u8::is_ascii_digit)
        || !content.iter().all(|byte| (tail.each)(*byte))
        || content.ends_with(b"EXAMPLE")
    {
        return Verdict::No;
    }
    rule.goes(around.start, end, cut.then_some(Open::Run(tail.alphabet)))
}

/// Made by a machine: letters and digits mixed, or all kinds of them.
pub(super) fn looks_made(text: &[u8]) -> bool {
    let text = &text[..text.len().min(256)];
    let has = |kind: fn(&u8) -> bool| text.iter().any(kind);
    is_random(text)
        || has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}
