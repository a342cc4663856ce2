//! Known values, in the forms in which they travel.

use std::collections::BTreeSet;

/// A value shorter than this would take ordinary words out of every text.
pub(crate) const LEAST: usize = 6;
/// The first bytes of a form, by which it is found.
const ANCHOR: usize = 8;
/// A line of a value of several lines counts as a value of its own from here on.
const LEAST_LINE: usize = 16;

/// One form of one known value.
#[derive(Clone)]
pub(crate) struct Form(Vec<u8>);

/// How a form and what stands at its anchor compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// All of it; ends here.
    Whole(usize),
    /// The text ends within it, after so many bytes of the form.
    Torn(usize),
    /// It is something else.
    Differs,
}

impl Form {
    pub(crate) fn anchor(&self) -> &[u8] {
        &self.0[..self.0.len().min(ANCHOR)]
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Compares from `at` on. A line break within the form is passed over: terminals, mail and
    /// `base64` wrap what is long.
    pub(crate) fn compare(&self, text: &[u8], at: usize) -> Compared {
        let (mut here, mut broken) = (at, false);
        for (matched, byte) in self.0.iter().enumerate() {
            loop {
                match text.get(here) {
                    None => return Compared::Torn(matched),
                    Some(found) if found == byte => break,
                    Some(_) if matched == 0 || broken => return Compared::Differs,
                    Some(_) => match line_break(&text[here..]) {
                        0 => return Compared::Differs,
                        length => (here, broken) = (here + length, true),
                    },
                }
            }
            (here, broken) = (here + 1, false);
        }
        Compared::Whole(here)
    }
}

/// Length of a line break, also one that is escaped.
pub(crate) fn line_break(text: &[u8]) -> usize {
    const BREAKS: [&[u8]; 6] = [b"\r\n", b"\n", b"\\r\\n", b"\\n", b"\\\\n", b"%0A"];
    let found = BREAKS.iter().find(|brk| text.starts_with(brk));
    found.map_or(0, |brk| brk.len())
}

/// Every form of these values that is long enough to be told from words.
pub(crate) fn forms<'v>(values: impl Iterator<Item = &'v str>) -> Vec<Form> {
    let mut all = BTreeSet::new();
    for value in values {
        add(value, &mut all);
        if value.contains('\n') {
            // Each line of a key file is as good as the whole.
            let lines = value.lines().map(str::trim);
            let telling = |line: &&str| line.len() >= LEAST_LINE && !line.contains([' ', '-']);
            lines.filter(telling).for_each(|line| add(line, &mut all));
        }
    }
    all.into_iter().map(Form).collect()
}

fn add(value: &str, all: &mut BTreeSet<Vec<u8>>) {
    if value.len() < LEAST {
        return;
    }
    let json = json_form(value);
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let texts = [
        value.to_owned(),
        json_form(&json),
        json.replace('/', "\\/"),
        json,
        url_form(value, true),
        url_form(value, false),
        hex.to_uppercase(),
        hex,
    ];
    all.extend(texts.into_iter().map(String::into_bytes));
    for skipped in 0..3 {
        let standard = base64_form(value.as_bytes(), skipped);
        let url_safe = standard.replace('+', "-").replace('/', "_");
        let long = [standard, url_safe].into_iter();
        all.extend(
            long.filter(|form| form.len() > LEAST)
                .map(String::into_bytes),
        );
    }
}

fn json_form(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn url_form(value: &str, upper: bool) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = value.bytes().map(|byte| match (plain(byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (false, true) => format!("%{byte:02X}"),
        (false, false) => format!("%{byte:02x}"),
    });
    encoded.collect()
}

/// RFC 4648 §4, as it stands within the encoding of a longer text that has `skipped` bytes (modulo
/// three) before the value. Characters at the ends that the neighbours change are left out.
fn base64_form(value: &[u8], skipped: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let padded = [&[0_u8; 2][..skipped], value].concat();
    let first = (8 * skipped).div_ceil(6);
    let end = 8 * padded.len() / 6;
    let bit = |at: usize| padded[at / 8] >> (7 - at % 8) & 1;
    let sextet = |at: usize| (0..6).fold(0, |so_far, next| so_far << 1 | bit(6 * at + next));
    (first..end)
        .map(|at| char::from(ALPHABET[usize::from(sextet(at))]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_wherever_the_value_stands() {
        // printf 'p"ss/w+rd', 'up"ss/w+rd' and 'u:p"ss/w+rd', each through base64.
        let whole = [
            ("cCJzcy93K3Jk", 0),
            ("dXAic3MvdytyZA==", 1),
            ("dTpwInNzL3crcmQ=", 2),
        ];
        for (text, skipped) in whole {
            let form = base64_form(b"p\"ss/w+rd", skipped);
            assert!(form.len() >= 11 && text.contains(&form), "{text} {form}");
        }
    }

    #[test]
    fn a_wrapped_value_is_the_same_value() {
        let form = Form(b"abcdefghij".to_vec());
        assert_eq!(form.compare(b"abcdefghij", 0), Compared::Whole(10));
        assert_eq!(form.compare(b"abcd\r\nefgh\\nij", 0), Compared::Whole(14));
        assert_eq!(form.compare(b"xabcd\n", 1), Compared::Torn(4));
        assert_eq!(form.compare(b"abcd\n\nefghij", 0), Compared::Differs);
        assert_eq!(form.compare(b"abcdx", 0), Compared::Differs);
    }
}
