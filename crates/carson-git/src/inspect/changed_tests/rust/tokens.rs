//! The tokens of Rust, as far as brackets and words go: what stands in comments, strings and characters is
//! none. Text that is no Rust has tokens, too.

use std::ops::Range;

/// A word, or one character of punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(end) = aside(text, at) {
            at = end;
            continue;
        }
        let end = match is_word(c) {
            true => text[at..]
                .find(|c| !is_word(c))
                .map_or(text.len(), |end| at + end),
            false => at + c.len_utf8(),
        };
        if !c.is_whitespace() {
            found.push(Token { start: at, end });
        }
        at = end;
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a comment, a string or a character that begins here ends.
fn aside(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let end_of = |found: Option<usize>| Some(found.map_or(text.len(), |end| at + end));
    if rest.starts_with("//") {
        return end_of(rest.find('\n'));
    }
    if rest.starts_with("/*") {
        return Some(at + block(rest));
    }
    let raw = rest.trim_start_matches(['b', 'c']);
    if let Some(raw) = raw.strip_prefix('r')
        && rest.len() - raw.len() <= 2
    {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if let Some(inside) = raw[marks..].strip_prefix('"') {
            let close = format!("\"{}", "#".repeat(marks));
            let before = rest.len() - inside.len();
            return end_of(inside.find(&close).map(|end| before + end + close.len()));
        }
    }
    match rest.chars().next()? {
        '"' => end_of(quoted(&rest[1..], '"').map(|end| 1 + end)),
        // Else it is the name of a lifetime.
        '\'' => {
            let mut inside = rest[1..].chars();
            match inside.next()? {
                '\\' => end_of(quoted(&rest[1..], '\'').map(|end| 1 + end)),
                c => (inside.next() == Some('\'')).then(|| at + 2 + c.len_utf8()),
            }
        }
        _ => None,
    }
}

/// Behind the quote that closes what begins here.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut all = text.char_indices();
    while let Some((at, c)) = all.next() {
        match c {
            '\\' => drop(all.next()),
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a comment in which others may stand.
fn block(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => {
                (at, depth) = (at + 2, depth - 1);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}
