//! Does it look random?

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Longest piece whose randomness is measured.
const MEASURED: usize = 256;

/// Shannon entropy in bits a byte.
pub(crate) fn entropy(text: &[u8]) -> f64 {
    let text = &text[..text.len().min(MEASURED)];
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Words of which examples are made.
const PLACEHOLDERS: [&str; 15] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "your",
    "xxxx",
    "****",
    "....",
    "dummy",
    "redacted",
    "fake",
    "sample",
    "insert",
    "1234567890",
];

static PLACEHOLDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut words = AhoCorasick::builder();
    let words = words.ascii_case_insensitive(true).build(PLACEHOLDERS);
    #[expect(clippy::expect_used, reason = "fifteen short words fit")]
    words.expect("the words are few")
});

/// Whether it says itself that it is none.
pub(crate) fn is_placeholder(text: &[u8]) -> bool {
    PLACEHOLDER.is_match(text)
}

/// Whether one of its pieces is no word, name or number: letters and digits change places, or it
/// is long, mixed and of high entropy.
pub(crate) fn is_random(text: &[u8]) -> bool {
    let pieces = text.split(|byte| b"-_./:@+=~".contains(byte));
    let mixed = |piece: &&[u8]| {
        let switches = piece
            .windows(2)
            .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        switches.count() >= 3
    };
    pieces.into_iter().any(|piece| mixed(&piece))
}

/// Whether a text is no word, name or number, as far as can be seen: letters and digits change places in it.
#[must_use]
pub fn looks_random(text: &str) -> bool {
    is_random(text.as_bytes()) && !is_placeholder(text.as_bytes())
}

/// Whether a word of a text is of so high an entropy that it may be a secret of an unknown kind:
/// worth a warning, never taken out. Hashes are not: they are everywhere, and hexadecimal.
#[must_use]
pub fn suspicious(word: &str) -> bool {
    let bytes = word.as_bytes();
    (24..=MEASURED).contains(&bytes.len())
        && !bytes.iter().all(u8::is_ascii_hexdigit)
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte))
        && entropy(bytes) > 4.2
        && is_random(bytes)
}

/// How many words of a text are [`suspicious`]. Binary files have none, and hashes of lock files are
/// known by their names.
#[must_use]
pub fn suspicious_words(text: &[u8]) -> u32 {
    if text.contains(&0) {
        return 0;
    }
    let text = String::from_utf8_lossy(text);
    let hash = |word: &&str| !(word.starts_with("sha256-") || word.starts_with("sha512-"));
    let words = text.split(is_between_words).filter(hash);
    let count = words.filter(|word| suspicious(word)).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn is_between_words(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | '[' | ']' | ',' | ';' | ':'
    ) || c.is_whitespace()
}
