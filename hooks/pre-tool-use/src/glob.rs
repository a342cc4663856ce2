//! Whether two texts with marks can be the same text.

use crate::marks::{self, ONE};

/// Longest text compared letter by letter; no file name or branch is longer.
const MAX_COMPARED: usize = 1024;

/// A letter of either side.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    Is(char),
    One,
    Many,
}

/// Whether some text fits both. Either side may have marks; `*` and `?` must have been made live
/// with [`marks::live_globs`] before.
pub fn overlap(a: &str, b: &str) -> bool {
    if marks::exact(a) && marks::exact(b) {
        return a == b;
    }
    if a.len() > MAX_COMPARED || b.len() > MAX_COMPARED {
        return false;
    }
    let (a, b) = (letters(a), letters(b));
    let mut row = first_row(&b);
    for &letter in &a {
        row = next_row(letter, &b, &row);
    }
    row[b.len()]
}

/// As [`overlap`] for one path component: a glob does not match a leading dot.
pub fn overlap_name(name: &str, other: &str) -> bool {
    let starts_wild = name.starts_with([marks::STAR, ONE]);
    !(starts_wild && other.starts_with('.')) && overlap(name, other)
}

fn letters(text: &str) -> Vec<Letter> {
    let letter = |c| match c {
        ONE => Letter::One,
        c if marks::is_mark(c) => Letter::Many,
        c => Letter::Is(c),
    };
    text.chars().map(letter).collect()
}

/// `row[j]`: the empty text on the left can be the first `j` letters on the right.
fn first_row(b: &[Letter]) -> Vec<bool> {
    let mut row = vec![true];
    for letter in b {
        row.push(row[row.len() - 1] && *letter == Letter::Many);
    }
    row
}

fn next_row(letter: Letter, b: &[Letter], before: &[bool]) -> Vec<bool> {
    let mut row = vec![before[0] && letter == Letter::Many];
    for (j, &other) in b.iter().enumerate() {
        let fits = match (letter, other) {
            // A wildcard matches nothing, or swallows one more letter of the other side.
            (Letter::Many, _) | (_, Letter::Many) => before[j] || before[j + 1] || row[j],
            (Letter::Is(x), Letter::Is(y)) => before[j] && x == y,
            _ => before[j],
        };
        row.push(fits);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::live_globs as live;

    #[test]
    fn texts_and_patterns() {
        for (a, b, fits) in [
            ("main", "main", true),
            ("main", "mai", false),
            ("release/1", "release/*", true),
            ("release", "release/*", false),
            ("*", "main", true),
            ("feature-*", "main", false),
            ("feature-*", "release/*", false),
            ("*.o", "*.c", false),
            ("*.o", "a*", true),
            ("m?in", "main", true),
            ("m?n", "main", false),
            ("", "*", true),
            ("", "?", false),
        ] {
            assert_eq!(overlap(&live(a), &live(b)), fits, "{a} {b}");
            assert_eq!(overlap(&live(b), &live(a)), fits, "{b} {a}");
        }
    }

    #[test]
    fn a_glob_does_not_match_a_hidden_name() {
        assert!(!overlap_name(&live("*"), ".git"));
        assert!(overlap_name(&live(".*"), ".git"));
        assert!(overlap_name(&live(".g?t"), ".git"));
    }
}
