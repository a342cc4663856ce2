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
        self.iter().any(|it| it == word)
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
pub struct Rows(pub &'static str);

impl Rows {
    /// The rows in their order.
    pub fn iter(self) -> impl Iterator<Item = Words> {
        self.0.lines().map(Words)
    }

    /// The rows whose first word is `name`, each without it.
    pub fn of(self, name: &str) -> impl Iterator<Item = Words> {
        let after = move |row: Words| row.0.strip_prefix(name)?.strip_prefix(' ').map(Words);
        self.iter().filter_map(after)
    }
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
        let rows = Rows("gh auth token\ngh api\nghx y\nplain");
        let found: Vec<&str> = rows.of("gh").map(|row| row.0).collect();
        assert_eq!(found, ["auth token", "api"]);
        assert!(rows.of("g").next().is_none());
    }
}
