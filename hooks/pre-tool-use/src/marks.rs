//! Text that is only partly known.
//!
//! A shell word is rarely just its letters: part of it may be a glob, a variable nobody set on this
//! line, or what a download printed. Such parts are single private-use characters inside an
//! ordinary string, so that splitting at `/`, joining and re-parsing (`bash -c "$X"`) all keep
//! them. Input that contains one of these characters already is cleaned first, so a command line
//! cannot forge a mark.

/// Text that cannot be known here: an unset variable, the output of an unknown command.
pub const ANY: char = '\u{10FFF0}';
/// Any run of characters without a `/`: the `*` of a live glob.
pub const STAR: char = '\u{10FFF1}';
/// Exactly one character: the `?` or `[…]` of a live glob.
pub const ONE: char = '\u{10FFF2}';
/// Any path below the one written so far, never climbing with `..`: what `find` prints.
pub const DEEP: char = '\u{10FFF3}';
/// Text that came from the network.
pub const DOWNLOAD: char = '\u{10FFF4}';
/// Text that was decoded from something unreadable (`base64 -d` of an unknown file).
pub const OPAQUE: char = '\u{10FFF5}';

/// The value of an environment variable that holds a credential.
pub const SECRET: char = '\u{10FFF6}';

/// Longest text kept; what is longer collapses into one mark, so doubling a variable in a loop
/// cannot grow memory. Larger than any command line a CLI sends.
pub const MAX_TEXT: usize = 4 * 1024 * 1024;

/// Whether this character is one of the marks.
pub fn is_mark(c: char) -> bool {
    (ANY..=SECRET).contains(&c)
}

/// Whether this character stands for a text nobody knows (a glob at least has a shape).
pub fn is_unknown(c: char) -> bool {
    matches!(c, ANY | DOWNLOAD | OPAQUE | SECRET)
}

/// Of several texts the one that may do most harm: one that leads elsewhere.
pub fn worst(texts: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = texts.collect();
    let elsewhere = |text: &String| {
        text.starts_with(['/', '~']) || text.contains("..") || text.starts_with(is_mark)
    };
    let at = all.iter().position(elsewhere).unwrap_or(0);
    if all.is_empty() {
        only(ANY)
    } else {
        all.swap_remove(at)
    }
}

/// Whether every character of the text is known.
pub fn exact(text: &str) -> bool {
    !text.chars().any(is_mark)
}

/// Whether any part of the text is unknown.
pub fn unknown(text: &str) -> bool {
    text.chars().any(is_unknown)
}

/// A single mark as a text.
pub fn only(mark: char) -> String {
    mark.to_string()
}

/// Replaces forged marks of outside input.
pub fn clean(text: &str) -> String {
    let swap = |c| if is_mark(c) { '\u{FFFD}' } else { c };
    text.chars().map(swap).collect()
}

/// Turns `*`, `?` and `[…]` into marks.
pub fn live_globs(text: &str) -> String {
    if !text.contains(['*', '?', '[']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut used = c.len_utf8();
        match c {
            '*' => out.push(STAR),
            '?' => out.push(ONE),
            // An IPv6 address in a URL.
            '[' if out.ends_with("://") || out.ends_with('@') => out.push(c),
            '[' => match bracket(rest) {
                Some(length) => {
                    out.push(ONE);
                    used = length;
                }
                None => out.push(c),
            },
            _ => out.push(c),
        }
        rest = &rest[used..];
    }
    out
}

/// The length of the bracket expression at the start of `text`. The look-ahead is short, so that a
/// megabyte of `[` costs no more than its length.
fn bracket(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = if matches!(bytes.get(1), Some(b'!' | b'^')) {
        3
    } else {
        2
    };
    let end = bytes.len().min(64);
    (first..end).find(|&at| bytes[at] == b']').map(|at| at + 1)
}

/// The text for people: marks are shown as `*`, `?` and `…`.
pub fn show(text: &str) -> String {
    let seen = |c| match c {
        STAR => '*',
        ONE => '?',
        c if is_mark(c) => '…',
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(seen).collect()
}

/// As [`show`], but at most `limit` characters.
pub fn show_short(text: &str, limit: usize) -> String {
    let head: String = text.chars().take(limit + 1).collect();
    let mut shown = show(&head);
    if head.chars().count() > limit {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// Collapses a text that has grown too long into the worst mark it contains.
pub fn bounded(text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let worst = [DOWNLOAD, OPAQUE].into_iter().find(|&m| text.contains(m));
    only(worst.unwrap_or(ANY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_becomes_marks() {
        let live = live_globs("a*b?[xy]c");
        assert_eq!(live, format!("a{STAR}b{ONE}{ONE}c"));
        assert_eq!(show(&live), "a*b??c");
        assert_eq!(live_globs("a[b"), "a[b");
    }

    #[test]
    fn forged_marks_are_replaced() {
        assert!(exact(&clean(&format!("rm {ANY} {DOWNLOAD}"))));
    }

    #[test]
    fn a_text_that_grew_too_long_keeps_its_worst_mark() {
        let long = "x".repeat(MAX_TEXT) + &only(DOWNLOAD);
        assert_eq!(bounded(long), only(DOWNLOAD));
        assert_eq!(bounded("x".repeat(MAX_TEXT + 1)), only(ANY));
    }
}
