//! Patterns as bash reads them in `case`: ralph-loop holds paths against its scope with it.
//!
//! There `*` crosses `/`, so that `src/*` matches `src/a/b`; nothing is special but `*`, `?`, `[…]` and `\`.
//! Of a pattern that begins with `**/` the rest may match alone; no other `**/` matches no directory. The tests
//! ask bash itself.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An ordered list of patterns; `!` takes out.
#[derive(Clone, Debug, Default)]
pub struct ShellCase {
    patterns: Vec<String>,
}

impl ShellCase {
    /// These patterns.
    pub fn new(patterns: &[String]) -> Self {
        Self {
            patterns: patterns.to_vec(),
        }
    }

    /// Whether they cover a path. Without one that takes in, none does.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        let mut covered = false;
        for pattern in self.patterns.iter().filter(|pattern| !pattern.is_empty()) {
            let (takes_in, glob) = match pattern.strip_prefix('!') {
                Some(glob) => (false, glob),
                None => (true, pattern.as_str()),
            };
            if scope_glob_matches(glob, path) {
                covered = takes_in;
            }
        }
        covered
    }
}

fn scope_glob_matches(glob: &str, path: &[u8]) -> bool {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let alone = glob.strip_prefix("**/").filter(|rest| !rest.is_empty());
    case_matches(glob, path) || alone.is_some_and(|rest| case_matches(rest, path))
}

/// Whether bash's `case` takes a text for one of this pattern, without extended patterns. A letter is a letter
/// of UTF-8, or a byte that belongs to none. It takes time in proportion to the product of their lengths.
#[must_use]
pub fn case_matches(pattern: &str, text: &[u8]) -> bool {
    let parts = parts(pattern);
    let letters = letters(text);
    let (mut at, mut seen) = (0, 0);
    // Where to go on when what was read does not fit: after a star, one letter later.
    let mut again: Option<(usize, usize)> = None;
    while seen < letters.len() {
        match parts.get(at) {
            Some(Part::Any) => {
                again = Some((at + 1, seen));
                at += 1;
            }
            Some(part) if part.takes(letters[seen]) => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((after_star, from)) = again else {
                    return false;
                };
                again = Some((after_star, from + 1));
                (at, seen) = (after_star, from + 1);
            }
        }
    }
    parts[at..].iter().all(|part| matches!(part, Part::Any))
}

/// A letter of a path; what is no UTF-8 stands above all letters, as a byte of its own.
fn letters(text: &[u8]) -> Vec<u32> {
    const NO_LETTER: u32 = 0x0011_0000;
    let mut letters = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        letters.extend(chunk.valid().chars().map(u32::from));
        letters.extend(
            chunk
                .invalid()
                .iter()
                .map(|byte| NO_LETTER + u32::from(*byte)),
        );
    }
    letters
}

/// A piece of a pattern.
#[derive(Debug)]
enum Part {
    /// `*`
    Any,
    /// `?`
    One,
    Letter(u32),
    /// `[…]`
    Set {
        not: bool,
        items: Vec<Item>,
    },
}

#[derive(Debug)]
enum Item {
    Range(u32, u32),
    Class(fn(&char) -> bool),
}

impl Part {
    fn takes(&self, letter: u32) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Letter(own) => *own == letter,
            Self::Set { not, items } => items.iter().any(|item| item.holds(letter)) != *not,
        }
    }
}

impl Item {
    fn holds(&self, letter: u32) -> bool {
        match self {
            Self::Range(from, to) => (*from..=*to).contains(&letter),
            Self::Class(is_in) => char::from_u32(letter).is_some_and(|c| is_in(&c)),
        }
    }
}

fn parts(pattern: &str) -> Vec<Part> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(&c) = pattern.get(at) {
        at += 1;
        match c {
            '*' => parts.push(Part::Any),
            '?' => parts.push(Part::One),
            '\\' => {
                // The last letter of a pattern stands for itself.
                let escaped = pattern.get(at).copied();
                at += usize::from(escaped.is_some());
                parts.push(Part::Letter(escaped.unwrap_or('\\').into()));
            }
            '[' => match set(&pattern[at..]) {
                Some((part, length)) => {
                    parts.push(part);
                    at += length;
                }
                None => parts.push(Part::Letter('['.into())),
            },
            other => parts.push(Part::Letter(other.into())),
        }
    }
    parts
}

/// The set that begins after a `[`, and how many letters it has with its `]`; `None` for one that has no end:
/// then the `[` is a letter.
fn set(text: &[char]) -> Option<(Part, usize)> {
    let not = matches!(text.first(), Some('!' | '^'));
    let first = usize::from(not);
    let mut at = first;
    let mut items = Vec::new();
    loop {
        match *text.get(at)? {
            ']' if at > first => return Some((Part::Set { not, items }, at + 1)),
            '[' if text.get(at + 1) == Some(&':') => {
                let (name, length) = named(&text[at + 2..], ':')?;
                items.extend(class(&name).map(Item::Class));
                at += 2 + length;
            }
            _ => {
                let (from, length) = letter(&text[at..])?;
                at += length;
                let has_end =
                    text.get(at) == Some(&'-') && text.get(at + 1).is_some_and(|c| *c != ']');
                if !has_end {
                    items.push(Item::Range(from, from));
                    continue;
                }
                let (to, length) = letter(&text[at + 1..])?;
                at += 1 + length;
                items.push(Item::Range(from, to));
            }
        }
    }
}

/// One letter of a set: itself, escaped, or by its name (`[.a.]`, `[=a=]`).
fn letter(text: &[char]) -> Option<(u32, usize)> {
    match (text.first()?, text.get(1)) {
        ('\\', Some(escaped)) => Some((u32::from(*escaped), 2)),
        ('[', Some(mark @ ('.' | '='))) => {
            let (name, length) = named(&text[2..], *mark)?;
            let only = match name.as_slice() {
                [only] => u32::from(*only),
                // A name that nothing has.
                _ => u32::MAX,
            };
            Some((only, 2 + length))
        }
        (c, _) => Some((u32::from(*c), 1)),
    }
}

/// What stands until `:]`, `.]` or `=]`, and its length with that.
fn named(text: &[char], mark: char) -> Option<(Vec<char>, usize)> {
    let end = text.windows(2).position(|two| two == [mark, ']'])?;
    Some((text[..end].to_vec(), end + 2))
}

fn class(name: &[char]) -> Option<fn(&char) -> bool> {
    let name: String = name.iter().collect();
    Some(match name.as_str() {
        "alnum" => |c| c.is_alphanumeric(),
        "alpha" => |c| c.is_alphabetic(),
        "ascii" => char::is_ascii,
        "blank" => |c| matches!(c, ' ' | '\t'),
        "cntrl" => |c| c.is_control(),
        "digit" => char::is_ascii_digit,
        "graph" => |c| !c.is_whitespace() && !c.is_control(),
        "lower" => |c| c.is_lowercase(),
        "print" => |c| !c.is_control(),
        "punct" => char::is_ascii_punctuation,
        "space" => |c| c.is_whitespace(),
        "upper" => |c| c.is_uppercase(),
        "word" => |c| c.is_alphanumeric() || *c == '_',
        "xdigit" => char::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
