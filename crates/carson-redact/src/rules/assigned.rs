//! Values that are given to a name which says that they are secret: `DB_PASSWORD=…`,
//! `"api_key": "…"`, `Authorization: Bearer …`.
//!
//! Most such lines of code and prose hold no secret, so the value must look like one.

use super::rule::{Around, Rule, Verdict, ends_in_a_word};
use super::tail::looks_made;
use crate::random::{entropy, is_placeholder, is_random};
use crate::runs::{Alphabet, Runs};

/// Last words of names. What follows one in the same name makes it another name.
pub(super) const NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "_pass",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "access-key",
    "secret_key",
    "secretkey",
    "private_key",
    "secret_key_base",
    "signing_key",
    "encryption_key",
    "master_key",
    "auth_key",
    "_pwd",
];

/// Longest value.
const LONGEST: usize = 256;
/// Shortest value.
const LEAST: usize = 8;
/// Shortest value of an authorization header.
const LEAST_HEADER: usize = 16;

/// How a value is given.
struct Given {
    from: usize,
    quote: Option<u8>,
    /// Like a shell or an `.env` file does.
    env: bool,
}

pub(super) fn judge_assignment(rule: &Rule, around: &Around<'_>, _: &mut Runs) -> Verdict {
    let Some(given) = given(around) else {
        return Verdict::No;
    };
    let rest = &around.text[given.from..];
    let rest = &rest[..rest.len().min(LONGEST)];
    let ends = |byte: &u8| !byte.is_ascii_graphic() || b"\"'`\\<>,;|&(){}[]".contains(byte);
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    if given.from + length == around.text.len() && !around.complete && length < LONGEST {
        return Verdict::Undecided(around.start);
    }
    let (value, next) = (&rest[..length], rest.get(length).copied());
    // A call, an index, a generic or a template: code that gets the value from elsewhere.
    let is_code = next.is_some_and(|byte| b"({[<".contains(&byte))
        || value.windows(2).any(|two| two == b"::");
    let closed = match (given.quote, next) {
        (Some(quote), Some(next)) => next == quote || next == b'\\',
        _ => true,
    };
    if is_code || !closed || !is_value(value, &given) {
        return Verdict::No;
    }
    rule.goes(given.from, given.from + length, None)
}

fn is_value(value: &[u8], given: &Given) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    if value.len() < LEAST
        || value.starts_with(b"$")
        || value.starts_with(b"/")
        || value.starts_with(b"%")
        || value.starts_with(b"[redacted")
        || !has(u8::is_ascii_alphabetic)
        || !has(u8::is_ascii_digit)
        || is_placeholder(value)
    {
        return false;
    }
    let long = value.len() >= 16 && entropy(value) >= 3.3 && looks_made(value);
    match (given.env, given.quote) {
        (true, _) => entropy(value) >= 2.7 && (looks_made(value) || symbols(value)),
        (false, Some(_)) => entropy(value) >= 2.7 && is_random(value) || long,
        (false, None) => long && is_random(value),
    }
}

fn symbols(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*+=~?".contains(byte))
}

/// Where the value begins, when one is given at all.
fn given(around: &Around<'_>) -> Option<Given> {
    let text = around.text;
    let mut here = around.end;
    let upper = !around.found().iter().any(u8::is_ascii_lowercase);
    if text
        .get(here)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
    {
        return None;
    }
    here += quotes(&text[here..]);
    let named = here;
    here += blanks(&text[here..]);
    let signs: [&[u8]; 5] = [b":=", b"=>", b"==", b"=", b":"];
    let sign = signs.iter().find(|sign| text[here..].starts_with(sign))?;
    let tight = here == named && *sign == b"=";
    here += sign.len();
    let spaces = blanks(&text[here..]);
    here += spaces;
    let opening = quotes(&text[here..]);
    let quote = (opening > 0).then(|| text[here + opening - 1]);
    Some(Given {
        from: here + opening,
        quote,
        env: upper && tight && spaces == 0,
    })
}

fn blanks(text: &[u8]) -> usize {
    let blank = |byte: &&u8| b" \t".contains(byte);
    text.iter().take(4).take_while(blank).count()
}

/// Length of a quote with the backslashes before it.
fn quotes(text: &[u8]) -> usize {
    let slashes = text
        .iter()
        .take(7)
        .take_while(|byte| **byte == b'\\')
        .count();
    match text.get(slashes) {
        Some(b'"' | b'\'' | b'`') => slashes + 1,
        _ => 0,
    }
}

/// `Authorization: Bearer VALUE`.
pub(super) fn header(rule: &Rule, around: &Around<'_>, runs: &mut Runs) -> Verdict {
    if ends_in_a_word(around.before()) {
        return Verdict::No;
    }
    let end = runs.end(around.text, around.end, Alphabet::Any);
    let value = &around.text[around.end..end];
    let cut = end == around.text.len() && !around.complete;
    if cut && value.len() < LONGEST {
        return Verdict::Undecided(around.start);
    }
    if value.len() < LEAST_HEADER || !looks_made(value) || is_placeholder(value) {
        return Verdict::No;
    }
    let open = cut.then_some(crate::span::Open::Run(Alphabet::Any));
    rule.goes(around.end, end, open)
}
