//! Known values, in the forms in which they are looked for.

use std::collections::BTreeSet;

use crate::trie::Trie;
use crate::unescape::unescaped;

/// A value shorter than this would take ordinary words out of every text.
pub(crate) const LEAST: usize = 6;
/// A line of a value of several lines counts as a value of its own from here on.
const LEAST_LINE: usize = 16;
/// So many letters and digits of a value are found also with other characters between them.
const LEAST_SPELLED: usize = 16;

/// Alphabets of base85: Ascii85, that of git and Python (RFC 1924), that of ZeroMQ.
const BASE85: [&[u8; 85]; 3] = [
    b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
];

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Known {
    /// Values without line breaks, also as they are without escapes; and in base85, which nobody
    /// can tell from text.
    pub plain: Trie,
    /// Letters and digits of values that have enough of them.
    pub spelled: Trie,
}

impl Known {
    pub(crate) fn new(values: &BTreeSet<String>) -> Self {
        let mut plain = BTreeSet::new();
        let mut spelled = BTreeSet::new();
        for value in values.iter().flat_map(|value| parts(value)) {
            add(value, &mut plain);
            let letters: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
            if letters.len() >= LEAST_SPELLED {
                spelled.insert(letters);
            }
        }
        let trie = |patterns: BTreeSet<Vec<u8>>| Trie::new(patterns.iter().map(Vec::as_slice));
        Self {
            plain: trie(plain),
            spelled: trie(spelled),
        }
    }
}

/// A value and, where it has several, its lines: each line of a key file is as good as the whole.
pub(crate) fn parts(value: &str) -> impl Iterator<Item = &str> {
    let lines = value
        .lines()
        .map(str::trim)
        .filter(|_| value.contains('\n'));
    let telling = |line: &&str| line.len() >= LEAST_LINE && !line.contains([' ', '-']);
    std::iter::once(value).chain(lines.filter(telling))
}

fn add(value: &str, all: &mut BTreeSet<Vec<u8>>) {
    let wide =
        |order: fn(u16) -> [u8; 2]| -> Vec<u8> { value.encode_utf16().flat_map(order).collect() };
    let mut forms = vec![value.as_bytes().to_vec(), unescaped(value.as_bytes())];
    if value.contains(' ') {
        // As forms in addresses have it.
        forms.push(value.replace(' ', "+").into_bytes());
    }
    if !value.is_ascii() {
        // Else it is the value with zeros between.
        forms.extend([wide(u16::to_le_bytes), wide(u16::to_be_bytes)]);
    }
    for alphabet in BASE85 {
        forms.extend((0..4).map(|skipped| base85_form(value.as_bytes(), skipped, alphabet)));
    }
    let without_breaks = forms.into_iter().map(|mut form| {
        form.retain(|byte| !b"\r\n".contains(byte));
        form
    });
    all.extend(without_breaks.filter(|form| form.len() >= LEAST));
}

/// Base85 as it stands within the encoding of a longer text that has `skipped` bytes (modulo four)
/// before the value, without the groups at the ends that the neighbours change.
fn base85_form(value: &[u8], skipped: usize, alphabet: &[u8; 85]) -> Vec<u8> {
    let own = value.get((4 - skipped) % 4..).unwrap_or_default();
    let (groups, _) = own.as_chunks::<4>();
    // One group alone is five characters, which are too few to be told from words.
    let groups = if groups.len() < 2 { &[] } else { groups };
    let digits = groups.iter().flat_map(|group| {
        let number = u32::from_be_bytes(*group);
        [4, 3, 2, 1, 0].map(|power| alphabet[(number / 85_u32.pow(power) % 85) as usize])
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base85_is_what_the_usual_tools_write() {
        // python3: base64.a85encode, base64.b85encode of b"hunter2-Zk3vQ9xL".
        let value = b"hunter2-Zk3vQ9xL";
        let written: [&[u8]; 2] = [b"BQ\\37ATBOX>&,p;;)rkp", b"XmxIMWpXktT5B_QQ8{=_"];
        assert_eq!(base85_form(value, 0, BASE85[0]), written[0]);
        assert_eq!(base85_form(value, 0, BASE85[1]), written[1]);
        // The same of b"x" and the value: the groups in the middle.
        assert_eq!(base85_form(value, 1, BASE85[1]), b"bY*ffEm~_cc2PNa");
        assert_eq!(base85_form(b"hunter", 0, BASE85[0]), b"");
    }

    #[test]
    fn lines_of_a_key_count_one_by_one() {
        let value = "-----BEGIN X-----\nZk3vQ9xLmB7tR2wY5nC8\nab\n";
        assert_eq!(
            parts(value).collect::<Vec<_>>(),
            [value, "Zk3vQ9xLmB7tR2wY5nC8"]
        );
        assert_eq!(parts("a-b-c-d").count(), 1);
    }
}
