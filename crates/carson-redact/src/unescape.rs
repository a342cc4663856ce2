//! Reads a text as the one who writes, sends or shows it means it: without escapes, colours and
//! characters that nobody sees.
//!
//! Escapes of escapes are read like the escape alone, however often one was put into another: JSON
//! in JSON, `%252F`, `&amp;quot;`. So a value reads the same whether or not it was escaped, provided
//! that it is read in this way, too.

/// Longest command to a terminal that is passed over, such as a link's address.
const COMMAND: usize = 1024;

/// Names of characters in HTML that have a meaning elsewhere.
const NAMES: [(&[u8], u8); 36] = [
    (b"quot", b'"'),
    (b"amp", b'&'),
    (b"apos", b'\''),
    (b"lt", b'<'),
    (b"gt", b'>'),
    (b"sol", b'/'),
    (b"bsol", b'\\'),
    (b"plus", b'+'),
    (b"equals", b'='),
    (b"colon", b':'),
    (b"semi", b';'),
    (b"comma", b','),
    (b"period", b'.'),
    (b"excl", b'!'),
    (b"num", b'#'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"lpar", b'('),
    (b"rpar", b')'),
    (b"ast", b'*'),
    (b"midast", b'*'),
    (b"quest", b'?'),
    (b"commat", b'@'),
    (b"lsqb", b'['),
    (b"lbrack", b'['),
    (b"rsqb", b']'),
    (b"rbrack", b']'),
    (b"Hat", b'^'),
    (b"lowbar", b'_'),
    (b"grave", b'`'),
    (b"lcub", b'{'),
    (b"lbrace", b'{'),
    (b"rcub", b'}'),
    (b"rbrace", b'}'),
    (b"verbar", b'|'),
    (b"vert", b'|'),
];

/// What stands at a place.
enum Meaning {
    Nothing,
    Byte(u8),
    Char(u32),
}

/// Gives every byte that is meant, and from where to where it is written.
#[inline]
pub(crate) fn unescape(text: &[u8], mut each: impl FnMut(u8, usize, usize)) {
    let mut at = 0;
    while at < text.len() {
        let first = text[at];
        if is_plain(first) {
            each(first, at, at + 1);
            at += 1;
            continue;
        }
        let (meaning, length) = read(&text[at..]);
        let end = at + length;
        match meaning {
            Meaning::Nothing => {}
            Meaning::Byte(byte) => each(byte, at, end),
            Meaning::Char(code) => {
                let mut bytes = [0; 4];
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    each(byte, at, end);
                }
            }
        }
        at = end;
    }
}

/// The same as a text of its own.
pub(crate) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    unescape(text, |byte, _, _| out.push(byte));
    out
}

/// Whether a byte means itself, whatever follows it.
#[inline]
fn is_plain(byte: u8) -> bool {
    !matches!(
        byte,
        0 | b'\n' | b'\r' | 0x1b | b'%' | b'&' | b'\\' | 0xc2 | 0xe2 | 0xef
    )
}

fn read(text: &[u8]) -> (Meaning, usize) {
    match text[0] {
        b'\\' => backslash(text),
        b'%' => percent(text),
        b'&' => entity(text),
        0x1b => (Meaning::Nothing, 1 + command(&text[1..])),
        // One of the two bytes of a letter in UTF-16, on whichever side.
        0 | b'\n' | b'\r' => (Meaning::Nothing, 1),
        0xe2 if unseen(text) => (Meaning::Nothing, 3),
        0xef if text.starts_with("\u{feff}".as_bytes()) => (Meaning::Nothing, 3),
        0xc2 if text.starts_with("\u{ad}".as_bytes()) => (Meaning::Nothing, 2),
        byte => (Meaning::Byte(byte), 1),
    }
}

/// Whether a character follows that takes no room: U+200B to U+200F, U+202A to U+202E, U+2060 to
/// U+2064.
fn unseen(text: &[u8]) -> bool {
    matches!(
        text,
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xa4, ..]
    )
}

fn backslash(text: &[u8]) -> (Meaning, usize) {
    let run = text.iter().take_while(|byte| **byte == b'\\').count();
    let rest = &text[run..];
    let Some(first) = rest.first() else {
        return (Meaning::Nothing, run);
    };
    let coded = match first {
        b'u' | b'U' => unicode(rest, *first == b'U'),
        b'x' => number(&rest[1..], 16, 2).map(|(code, length)| (code, 1 + length)),
        b'0'..=b'7' => {
            let most = if *first == b'0' { 4 } else { 3 };
            number(rest, 8, most).filter(|(code, _)| *code < 256)
        }
        b'e' => Some((0x1b, 1)),
        _ => None,
    };
    if let Some((code, length)) = coded {
        let end = run + length;
        return match (code, u8::try_from(code)) {
            (0 | 10 | 13, _) => (Meaning::Nothing, end),
            (0x1b, _) => (Meaning::Nothing, end + command(&text[end..])),
            // Such escapes may be the bytes of UTF-8 as well as characters; `\u00e9` is no byte.
            (_, Ok(byte)) if byte < 128 || !b"uU".contains(first) => (Meaning::Byte(byte), end),
            _ => (Meaning::Char(code), end),
        };
    }
    match first {
        b'n' | b'r' | b'\n' | b'\r' => (Meaning::Nothing, run + 1),
        b't' => (Meaning::Byte(b'\t'), run + 1),
        byte => (Meaning::Byte(*byte), run + 1),
    }
}

/// `uXXXX`, with what follows it where one character is written as two; `u{X…}`; `UXXXXXXXX`.
fn unicode(text: &[u8], long: bool) -> Option<(u32, usize)> {
    if text.get(1) == Some(&b'{') {
        let (code, length) = number(&text[2..], 16, 6)?;
        return (text.get(2 + length) == Some(&b'}')).then_some((code, length + 3));
    }
    let digits = if long { 8 } else { 4 };
    let (high, length) = number(&text[1..], 16, digits)?;
    let end = 1 + length;
    if length < digits || !(0xd800..0xdc00).contains(&high) {
        return (length == digits).then_some((high, end));
    }
    let run = text[end..]
        .iter()
        .take_while(|byte| **byte == b'\\')
        .count();
    let rest = &text[end + run..];
    let low = rest.strip_prefix(b"u").and_then(|rest| number(rest, 16, 4));
    match low {
        Some((low @ 0xdc00..0xe000, 4)) if run > 0 => {
            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            Some((code, end + run + 5))
        }
        _ => Some((high, end)),
    }
}

/// A number of at least one digit and at most `most`, and its length.
fn number(text: &[u8], radix: u32, most: usize) -> Option<(u32, usize)> {
    let digits = text.iter().take(most);
    let digits: Vec<u32> = digits
        .map_while(|byte| char::from(*byte).to_digit(radix))
        .collect();
    let value = digits.iter().try_fold(0_u32, |so_far, digit| {
        so_far.checked_mul(radix)?.checked_add(*digit)
    })?;
    (!digits.is_empty()).then_some((value, digits.len()))
}

fn percent(text: &[u8]) -> (Meaning, usize) {
    let hex = |at: usize| number(text.get(at..)?, 16, 2).filter(|(_, length)| *length == 2);
    let mut at = 1;
    // `%252F` is a `%2F` that was encoded again.
    while text[at..].starts_with(b"25") && hex(at + 2).is_some() {
        at += 2;
    }
    match hex(at) {
        None => (Meaning::Byte(b'%'), 1),
        Some((0 | 10 | 13, _)) => (Meaning::Nothing, at + 2),
        Some((code, _)) => (Meaning::Byte(u8::try_from(code).unwrap_or(0)), at + 2),
    }
}

fn entity(text: &[u8]) -> (Meaning, usize) {
    let mut at = 1;
    while text[at..].starts_with(b"amp;") {
        at += 4;
    }
    let rest = &text[at..];
    let semicolon = |length: usize| length + usize::from(rest.get(length) == Some(&b';'));
    if let Some(digits) = rest.strip_prefix(b"#") {
        let found = match digits.first() {
            Some(b'x' | b'X') => {
                number(&digits[1..], 16, 10).map(|(code, length)| (code, 2 + length))
            }
            _ => number(digits, 10, 10).map(|(code, length)| (code, 1 + length)),
        };
        if let Some((code, length)) = found {
            let end = at + semicolon(length);
            return match code {
                0 | 10 | 13 => (Meaning::Nothing, end),
                code => (Meaning::Char(code), end),
            };
        }
    }
    let named = |(name, _): &&(&[u8], u8)| {
        rest.strip_prefix(*name)
            .is_some_and(|rest| rest.starts_with(b";"))
    };
    match NAMES.iter().find(named) {
        Some((name, byte)) => (Meaning::Byte(*byte), at + name.len() + 1),
        None => (Meaning::Byte(b'&'), at),
    }
}

/// Length of a command to the terminal behind its escape (ECMA-48).
fn command(text: &[u8]) -> usize {
    match text.first() {
        Some(b'[') => {
            let body = text[1..].iter().take(COMMAND);
            let inner = body.take_while(|byte| (0x20..0x40).contains(*byte)).count();
            let last = text
                .get(1 + inner)
                .is_some_and(|byte| (0x40..0x7f).contains(byte));
            1 + inner + usize::from(last)
        }
        Some(b']' | b'P' | b'_' | b'^') => {
            let body = &text[..text.len().min(COMMAND)];
            let bell = body.iter().position(|byte| *byte == 7).map(|at| at + 1);
            let string = body.windows(2).position(|two| two == b"\x1b\\");
            let ends = [bell, string.map(|at| at + 2)];
            ends.into_iter().flatten().min().unwrap_or(1)
        }
        Some(b'(' | b')' | b'#') => text.len().min(2),
        Some(0x40..=0x7e) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_meant_is_read() {
        for (written, meant) in [
            (r"\u0068\x75\156\t", "hun\t"),
            (r#"a\\\"b\\\\\\\/c"#, "a\"b/c"),
            (r"\ud83d\ude00 \\ud83d\\ude00 \u{1F600}", "😀 😀 😀"),
            ("%68%2525252f%zz100%", "h/%zz100%"),
            (
                "&#104;&#x75;&#0110&amp;quot;&amp;&nosuch;",
                "hun\"&&nosuch;",
            ),
            ("h\x1b[1;31mu\x1b[0mn\x1b]8;;https://x\x07t\x1b(Be", "hunte"),
            (r"h\u001b[1mu\033[0mn\e[mt", "hunt"),
            ("h\0u\0n\0", "hun"),
            ("h\r\nu\\r\\nn%0At\\\ne\u{200b}r", "hunter"),
            ("&&amp", "&&amp"),
        ] {
            let read = String::from_utf8(unescaped(written.as_bytes())).unwrap();
            assert_eq!(read, meant, "{written}");
        }
    }

    proptest! {
        #[test]
        fn a_value_reads_the_same_escaped_or_not(value in "[ -~]{0,30}") {
            let json = serde_json::Value::from(value.as_str()).to_string();
            let json = &json[1..json.len() - 1];
            prop_assert_eq!(unescaped(json.as_bytes()), unescaped(value.as_bytes()));
        }

        #[test]
        fn places_are_in_order_and_cover_what_is_meant(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut last, length) = (0, text.len());
            unescape(&text, |_, start, end| {
                assert!(start >= last && start < end && end <= length);
                last = start;
            });
        }
    }
}
