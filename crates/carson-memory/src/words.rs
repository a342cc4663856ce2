//! A text as it is searched and compared: its telling words, in one form each.
//!
//! The same words go into the index of either database and into a query, so that both find the same.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

/// Words of a text that are looked at.
const MOST: usize = 4_000;
/// Longest word that tells anything, in bytes.
const LONGEST: usize = 40;

/// They stand in every text.
const EMPTY: [&str; 76] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had",
    "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "must", "my",
    "no", "not", "of", "on", "or", "our", "out", "over", "s", "she", "should", "so", "some",
    "such", "t", "than", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "we", "were", "what", "when", "which", "while", "will", "with", "would", "you", "your",
];

/// The telling words of a text in its order, each as often as it stands there.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|piece| !piece.is_empty())
    {
        for part in parts(piece) {
            if part.chars().any(is_unspaced) {
                found.extend(pairs(part));
                found.truncate(MOST);
                continue;
            }
            let word = part.to_lowercase();
            // What upper case becomes may have marks that are no letters.
            let is_plain = word.chars().all(char::is_alphanumeric);
            if word.len() > LONGEST || !is_plain || is_empty(&word) {
                continue;
            }
            found.push(stem(&word));
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// The same, each once, in the order of letters.
#[must_use]
pub fn set(text: &str) -> BTreeSet<String> {
    words(text).into_iter().collect()
}

/// As a column holds them.
#[must_use]
pub fn searched(text: &str) -> String {
    words(text).join(" ")
}

/// The same for texts that say the same in the same words, whatever stands between them.
#[must_use]
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(searched(text));
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether a word stands in every text, and tells nothing.
pub(crate) fn is_empty(word: &str) -> bool {
    EMPTY.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// How much a word tells: long ones more than short ones, those with digits most.
#[must_use]
pub fn weight(word: &str) -> f64 {
    let letters = word.chars().count().min(12);
    let letters = f64::from(u32::try_from(letters).unwrap_or(12));
    let is_coded = word.bytes().any(|byte| byte.is_ascii_digit());
    (1.0 + letters).ln() * if is_coded { 1.5 } else { 1.0 }
}

/// Letters of scripts that put no blank between words: Thai to Khmer, kana, Han, Hangul.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3134f)
}

/// What stands for words where nobody puts blanks between them: each letter with its neighbour.
fn pairs(part: &str) -> Vec<String> {
    let letters: Vec<char> = part.chars().flat_map(char::to_lowercase).collect();
    match letters[..] {
        [one] => vec![one.to_string()],
        _ => letters.windows(2).map(|two| two.iter().collect()).collect(),
    }
}

/// What camels' humps divide: `HttpServer2` is `Http` and `Server2`.
fn parts(piece: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    for (at, c) in piece.char_indices() {
        if c.is_uppercase() && before.is_lowercase() {
            parts.push(&piece[from..at]);
            from = at;
        }
        before = c;
    }
    parts.push(&piece[from..]);
    parts
}

/// A word without the endings that English gives it; never shorter than three letters.
fn stem(word: &str) -> String {
    let plain = |end: &str, becomes: &str| {
        let root = word.strip_suffix(end)?;
        (root.len() >= 3 && root.is_ascii()).then(|| format!("{root}{becomes}"))
    };
    const ENDINGS: [(&str, &str); 12] = [
        ("ations", "ate"),
        ("ation", "ate"),
        ("ments", ""),
        ("ment", ""),
        ("ings", ""),
        ("ing", ""),
        ("ies", "y"),
        ("ied", "y"),
        ("ed", ""),
        ("es", ""),
        ("ly", ""),
        ("s", ""),
    ];
    if word.ends_with("ss") || word.ends_with("us") {
        return word.to_owned();
    }
    let mut found = ENDINGS
        .iter()
        .find_map(|(end, becomes)| plain(end, becomes));
    if let Some(root) = &mut found {
        undouble(root);
    }
    let mut root = found.unwrap_or_else(|| word.to_owned());
    // `cache`, `caches` and `caching` are one.
    if root.len() > 3 && root.ends_with('e') && root.is_ascii() {
        root.pop();
    }
    root
}

/// `runn` is `run`.
fn undouble(root: &mut String) {
    let bytes = root.as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && b.is_ascii_alphabetic()
        && !b"aeioulsz".contains(b)
        && bytes.len() > 3
    {
        root.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn endings_humps_and_marks_make_no_difference() {
        for (one, other) in [
            ("caching", "caches"),
            ("cached", "cache"),
            ("running", "runs"),
            ("retries", "retry"),
            ("migrations", "migrate"),
            ("HttpServer", "http_server"),
            ("deployments", "deploy"),
        ] {
            assert_eq!(words(one), words(other), "{one} {other}");
        }
        assert_eq!(words("The test of the"), ["test"]);
        assert_eq!(
            words("試験は遅い test"),
            ["試験", "験は", "は遅", "遅い", "test"]
        );
        assert_eq!(words("字"), ["字"]);
        assert_eq!(digest("Run `make gen`!"), digest("run make gen"));
        assert_ne!(digest("run make gen"), digest("run make"));
    }

    #[test]
    fn the_empty_words_are_in_order() {
        assert!(EMPTY.is_sorted());
    }

    proptest! {
        #[test]
        fn words_are_as_both_databases_take_them(text in "\\PC{0,200}") {
            for word in words(&text) {
                prop_assert!(!word.is_empty() && word.chars().all(char::is_alphanumeric), "{word:?}");
            }
            prop_assert_eq!(digest(&text), digest(&format!("  {text}\n")));
        }

        #[test]
        fn any_length_is_bounded(text in "[a-z ]{0,40}", times in 0usize..2_000) {
            prop_assert!(words(&text.repeat(times)).len() <= MOST);
        }
    }
}
