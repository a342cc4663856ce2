//! Private keys in PEM (RFC 7468) and OpenPGP armour, also unfinished ones, in JSON and with the
//! line numbers that tools put before them.

use super::rule::{Around, Rule, Verdict};
use crate::runs::Runs;
use crate::span::Open;

/// Longest label between `-----BEGIN ` and its dashes.
const LABEL: usize = 48;
/// A first line of a key without an end has at least so many characters.
const FIRST_LINE: usize = 16;

pub(super) fn judge_private_key(rule: &Rule, around: &Around<'_>, _: &mut Runs) -> Verdict {
    if around.found() != b"-----BEGIN " {
        return Verdict::No;
    }
    let after = around.after();
    let window = &after[..after.len().min(LABEL)];
    let label = window.windows(5).position(|five| five == b"-----");
    let Some(label) = label else {
        return match after.len() < LABEL && !around.complete && !window.contains(&b'\n') {
            true => Verdict::Undecided(around.start),
            false => Verdict::No,
        };
    };
    let name = &window[..label];
    if !(name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK")) {
        return Verdict::No;
    }
    let from = around.end + label + 5;
    let body = Body::read(around.text, from);
    let cut = body.end == around.text.len() && !body.closed && !around.complete;
    match (body.closed, body.looks_like_a_key, cut) {
        (true, ..) | (_, true, false) => rule.goes(around.start, body.end, None),
        (_, true, true) => rule.goes(around.start, body.end, Some(Open::Pem)),
        (false, false, true) => Verdict::Undecided(around.start),
        (false, false, false) => Verdict::No,
    }
}

/// The lines of a key.
pub(crate) struct Body {
    /// Where they end.
    pub end: usize,
    /// Whether the end line is there.
    pub closed: bool,
    looks_like_a_key: bool,
}

impl Body {
    /// Reads lines from `from` on, for as long as they are such.
    pub(crate) fn read(text: &[u8], from: usize) -> Self {
        let mut body = Self {
            end: from,
            closed: false,
            looks_like_a_key: false,
        };
        let mut here = from;
        while here < text.len() {
            let start = here + margin(&text[here..]);
            let brk = break_of(&text[start..]);
            if brk > 0 {
                here = start + brk;
                body.end = here;
                continue;
            }
            if let Some(close) = close(&text[start..]) {
                (body.end, body.closed) = (start + close, true);
                break;
            }
            match line(&text[start..]) {
                Some(length) => {
                    body.looks_like_a_key |= length >= FIRST_LINE;
                    here = start + length;
                    body.end = here;
                }
                None => break,
            }
        }
        body
    }
}

/// Length of a line break, also one that is escaped.
fn line_break(text: &[u8]) -> usize {
    const BREAKS: [&[u8]; 6] = [b"\r\n", b"\n", b"\\r\\n", b"\\n", b"\\\\n", b"%0A"];
    let found = BREAKS.iter().find(|brk| text.starts_with(brk));
    found.map_or(0, |brk| brk.len())
}

/// Blanks at the end of a line go with its break.
fn break_of(text: &[u8]) -> usize {
    let blanks = text
        .iter()
        .take_while(|byte| b" \t\r".contains(byte))
        .count();
    match line_break(&text[blanks..]) {
        0 if blanks > 0 && blanks == text.len() => blanks,
        0 => 0,
        length => blanks + length,
    }
}

/// What tools put before a line: blanks, a number, an arrow, a sign of a diff or a quote.
fn margin(text: &[u8]) -> usize {
    const SIGNS: [&str; 9] = [" ", "\t", "\\t", "→", "|", ":", "+", ">", "\""];
    let mut here = 0;
    let mut digits = 0;
    while here < text.len().min(24) {
        let rest = &text[here..];
        if rest.starts_with(b"-----") {
            return here;
        }
        let number = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = |sign: &&&str| rest[number..].starts_with(sign.as_bytes());
        let sign = SIGNS.iter().find(ends).map_or(0, |sign| sign.len());
        if sign == 0 || number > 6 || (number > 0 && digits > 0) {
            return here;
        }
        digits += number;
        here += number + sign;
    }
    here
}

/// Length of an end line.
fn close(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"-----END ")?;
    let window = &rest[..rest.len().min(LABEL)];
    let dashes = window.windows(5).position(|five| five == b"-----");
    Some(b"-----END ".len() + dashes.map_or(0, |at| at + 5))
}

/// Length of a line of base64, or of a header such as `Proc-Type: 4,ENCRYPTED`.
fn line(text: &[u8]) -> Option<usize> {
    let base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let length = text.iter().take_while(base64).count();
    let rest = &text[length..];
    // Whoever makes one line of many puts blanks for the breaks.
    let flat = rest.starts_with(b" ") && (length >= FIRST_LINE || rest.starts_with(b" -----END "));
    if flat {
        return Some(length);
    }
    if length > 0 && (rest.is_empty() || break_of(rest) > 0 || b"\"'`<\\".contains(&rest[0])) {
        return Some(length);
    }
    let word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let name = text.iter().take_while(word).count();
    if name == 0 || name > 24 || !text[name..].starts_with(b": ") {
        return None;
    }
    let value = &text[name..text.len().min(name + 200)];
    let breaks = (0..value.len()).find(|at| line_break(&value[*at..]) > 0);
    let quotes = value.iter().position(|byte| b"\"<".contains(byte));
    let end = match (breaks, quotes) {
        (Some(brk), Some(quote)) if quote < brk => return None,
        (Some(brk), _) => brk,
        (None, _) => return None,
    };
    Some(name + end)
}
