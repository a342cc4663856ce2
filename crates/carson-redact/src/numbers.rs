//! Bytes that are written as numbers: hexadecimal with whatever stands between, decimal, octal, and
//! the dumps of `xxd`, `hexdump` and `od`.

use crate::watch::{Found, Watch};

/// Characters between two numbers that belong together.
const GAP: usize = 24;
/// What may stand before the first line of a dump, with its offset.
const LABEL: usize = 200;
/// From so many digits on, a number may begin in the middle of a byte.
const LONG: usize = 12;

/// Pairs of hexadecimal digits. `odd` reads long numbers from their second digit on: what stands
/// before a value may be a digit as well.
pub(crate) fn hexadecimal(
    text: &[u8],
    even: &mut Watch<'_>,
    odd: &mut Watch<'_>,
    found: &mut Found,
) {
    let (mut at, mut last) = (0, 0);
    while let Some(run) = run(text, at, u8::is_ascii_hexdigit) {
        at = run.end;
        // The zero of `0x70` belongs to the sign.
        if run.len() == 1 && text[run.start] == b'0' && matches!(text.get(at), Some(b'x' | b'X')) {
            continue;
        }
        if run.start - last > GAP {
            even.reset();
        }
        odd.reset();
        last = at;
        if run.len() >= LONG {
            pairs(text, run.start + 1..run.end, odd, found);
        } else if run.len() % 2 == 1 {
            even.reset();
            continue;
        }
        pairs(text, run, even, found);
    }
}

fn pairs(text: &[u8], digits: std::ops::Range<usize>, watch: &mut Watch<'_>, found: &mut Found) {
    let from = digits.start;
    for (at, pair) in text[digits].chunks_exact(2).enumerate() {
        let start = from + 2 * at;
        watch.push(
            16 * digit(pair[0]) + digit(pair[1]),
            start,
            start + 2,
            found,
        );
    }
}

/// The lines of a dump: an offset, groups of digits, and perhaps the characters beside them.
/// `swapped` reads each group from its end, as words of two or four bytes are written.
pub(crate) fn dump(text: &[u8], plain: &mut Watch<'_>, swapped: &mut Watch<'_>, found: &mut Found) {
    let mut from = 0;
    while from < text.len() {
        let end = line_end(text, from);
        match offset(&text[from..end]) {
            Some(length) => groups(text, from + length..end, (plain, swapped), found),
            None => {
                plain.reset();
                swapped.reset();
            }
        }
        from = end;
    }
}

/// Where the next line begins; in JSON a line ends in the two characters `\n`.
fn line_end(text: &[u8], from: usize) -> usize {
    let rest = &text[from..];
    let mut at = 0;
    while let Some(next) = rest[at..].iter().position(|byte| b"\n\\".contains(byte)) {
        at += next + 1;
        if rest[at - 1] == b'\n' {
            return from + at;
        }
        if rest.get(at) == Some(&b'n') {
            return from + at + 1;
        }
    }
    text.len()
}

/// Where an offset ends, when a line has one near its beginning.
fn offset(line: &[u8]) -> Option<usize> {
    let line = &line[..line.len().min(LABEL)];
    let mut at = 0;
    while let Some(digits) = run(line, at, u8::is_ascii_hexdigit) {
        at = digits.end;
        let inside = digits.start > 0 && line[digits.start - 1].is_ascii_alphanumeric();
        let after = matches!(line.get(at), Some(b' ' | b':' | b'\t'));
        if (4..=16).contains(&digits.len()) && after && !inside {
            return Some(at);
        }
    }
    None
}

fn groups(
    text: &[u8],
    line: std::ops::Range<usize>,
    (plain, swapped): (&mut Watch<'_>, &mut Watch<'_>),
    found: &mut Found,
) {
    let (mut at, mut bytes) = (line.start, 0);
    while let Some(group) = run(&text[..line.end], at, u8::is_ascii_hexdigit) {
        let between = &text[at..group.start];
        let is_gap = between.len() > 2 || (between.len() == 2 && bytes > 0 && bytes % 8 != 0);
        let fits = matches!(group.len(), 2 | 4 | 8 | 16);
        let apart = between.iter().all(|byte| b" :\t".contains(byte));
        // Behind the groups there are the characters that they stand for.
        if !fits || !apart || (bytes > 0 && is_gap) || bytes >= 32 {
            return;
        }
        let half = group.len() / 2;
        let byte = |nth: usize| {
            let start = group.start + 2 * nth;
            16 * digit(text[start]) + digit(text[start + 1])
        };
        for nth in 0..half {
            plain.push(byte(nth), group.start, group.end, found);
            swapped.push(byte(half - 1 - nth), group.start, group.end, found);
        }
        (at, bytes) = (group.end, bytes + half);
    }
}

/// Lists of decimal numbers, and of octal ones of three digits. Longer ones are offsets.
pub(crate) fn lists(
    text: &[u8],
    decimal: &mut Watch<'_>,
    octal: &mut Watch<'_>,
    found: &mut Found,
) {
    let (mut at, mut last) = (0, 0);
    while let Some(run) = run(text, at, u8::is_ascii_digit) {
        at = run.end;
        if run.len() > 3 {
            continue;
        }
        if run.start - last > GAP {
            decimal.reset();
            octal.reset();
        }
        let digits = &text[run.clone()];
        match value(digits, 10) {
            Some(byte) => decimal.push(byte, run.start, run.end, found),
            None => decimal.reset(),
        }
        match value(digits, 8).filter(|_| digits.len() == 3) {
            Some(byte) => octal.push(byte, run.start, run.end, found),
            None => octal.reset(),
        }
        last = at;
    }
}

fn value(digits: &[u8], radix: u32) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// The next run of such bytes.
fn run(text: &[u8], from: usize, is: impl Fn(&u8) -> bool) -> Option<std::ops::Range<usize>> {
    let start = from + text[from..].iter().position(&is)?;
    let length = text[start..].iter().position(|byte| !is(byte));
    Some(start..length.map_or(text.len(), |length| start + length))
}

fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}
