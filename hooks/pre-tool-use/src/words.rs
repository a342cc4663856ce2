//! Lists of words, each as one text.
//!
//! The rules are mostly such lists. As slices of `&str` each word would cost sixteen bytes beside its
//! letters, and as patterns of a `match` a comparison of its own, which together came to a tenth of
//! the program.

use std::str::SplitAsciiWhitespace;

/// A list of words with blanks between them. No word is empty or holds a blank.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static str);

impl Words {
    /// Whether `word` is one of them.
    #[inline(never)]
    pub fn has(self, word: &str) -> bool {
        let whole = |rest: &[u8], at: usize| rest.get(at).is_none_or(u8::is_ascii_whitespace);
        let (list, word) = (self.0.as_bytes(), word.as_bytes());
        let mut at = 0;
        // Asked of every command many times: only where a word of this length and letter begins is
        // more of it looked at.
        while let Some(rest) = list.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.first() == word.first() && whole(rest, word.len()) && rest.starts_with(word) {
                return true;
            }
            at += 1 + rest
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(rest.len());
        }
        false
    }

    /// The words in their order.
    pub fn iter(self) -> SplitAsciiWhitespace<'static> {
        self.0.split_ascii_whitespace()
    }

    /// Whether `list` begins with all of them.
    #[inline(never)]
    pub fn start(self, list: &[&str]) -> bool {
        let mut list = list.iter();
        self.iter().all(|it| list.next() == Some(&it))
    }

    /// Whether one of them stands somewhere in `text`.
    #[inline(never)]
    pub fn any_in(self, text: &str) -> bool {
        self.iter().any(|it| text.contains(it))
    }
}

/// A table: a row a line, words in it.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    text: &'static str,
    /// Bits of the first words that there are, so that for most words no row is looked at.
    first: [u64; 8],
}

impl Rows {
    /// The table in a text; for constants.
    pub const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut first, mut start, mut at) = ([0; 8], 0, 0);
        while at < bytes.len() {
            let begins = start == 0 || bytes[start - 1] == b'\n';
            if bytes[at] == b' ' || bytes[at] == b'\n' {
                if begins {
                    let bit = bit(bytes[start], bytes[at - 1], at - start);
                    first[bit / 64] |= 1 << (bit % 64);
                }
                start = at + 1;
            }
            at += 1;
        }
        Self { text, first }
    }

    /// The rows whose first word is `name`, each without it.
    pub fn of(self, name: &str) -> impl Iterator<Item = Words> {
        let after = move |row: &'static str| row.strip_prefix(name)?.strip_prefix(' ').map(Words);
        let bytes = name.as_bytes();
        let bit = match bytes {
            [] => 0,
            [one] => bit(*one, *one, 1),
            [one, .., last] => bit(*one, *last, bytes.len()),
        };
        let known = self.first[bit / 64] & (1 << (bit % 64)) != 0;
        let text = if known { self.text } else { "" };
        text.split('\n').filter_map(after)
    }
}

/// The bit for a word with these letters at its ends.
const fn bit(first: u8, last: u8, length: usize) -> usize {
    (first as usize * 37 + last as usize * 11 + length) % 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_only() {
        let words = Words("git-push push \\\n  pull");
        assert!(words.has("push") && words.has("git-push"));
        assert!(!words.has("git") && !words.has("") && !words.has("push pull"));
        assert!(Words("auth token").start(&["auth", "token", "x"]));
        assert!(!Words("auth token").start(&["auth"]));
    }

    #[test]
    fn a_row_is_found_by_its_whole_first_word() {
        let rows = Rows::new("gh auth token\ngh api\nghx y\nplain 0");
        let found: Vec<&str> = rows.of("gh").map(|row| row.0).collect();
        assert_eq!(found, ["auth token", "api"]);
        assert!(rows.of("g").next().is_none());
        assert_eq!(rows.of("plain").count(), 1);
    }
}
