//! JSON Web Tokens (RFC 7519): a header and a payload of JSON in base64, and a signature.

use super::rule::{Around, Rule, Verdict, ends_in_a_word};
use crate::runs::{Alphabet, Runs};
use crate::span::Open;

/// Least length of header and payload. `{"a":1}` has 10 characters.
const LEAST: usize = 10;

/// Base64 of JSON alone is none: source maps and images have it.
pub(super) fn judge_jwt(rule: &Rule, around: &Around<'_>, runs: &mut Runs) -> Verdict {
    if around.found() != b"eyJ" || ends_in_a_word(around.before()) {
        return Verdict::No;
    }
    let text = around.text;
    let header = runs.end(text, around.start, Alphabet::WordDashed);
    let undecided = |end: usize| end == text.len() && !around.complete;
    if undecided(header) {
        return Verdict::Undecided(around.start);
    }
    if header - around.start < LEAST || text.get(header) != Some(&b'.') {
        return Verdict::No;
    }
    let payload = header + 1;
    if text.len() < payload + 2 && !around.complete {
        return Verdict::Undecided(around.start);
    }
    if !text[payload..].starts_with(b"ey") {
        return Verdict::No;
    }
    let end = runs.end(text, payload, Alphabet::Dotted);
    if end - payload < LEAST {
        return match undecided(end) {
            true => Verdict::Undecided(around.start),
            false => Verdict::No,
        };
    }
    // A full stop behind it ends a sentence.
    let stop = text[payload..end].iter().rposition(|byte| *byte != b'.');
    let last = stop.map_or(end, |at| payload + at + 1);
    let open = undecided(end).then_some(Open::Run(Alphabet::Dotted));
    rule.goes(around.start, if open.is_some() { end } else { last }, open)
}
