//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::marks::{self, ANY, STAR};
use crate::shell::syntax::Part;

/// Most words one word may become; a word that would become more is unknown.
const MAX_WORDS: usize = 64;
/// Longest word that is looked at.
const MAX_UNITS: usize = 4096;

/// A piece of a word after brace expansion.
#[derive(Debug)]
pub enum Atom<'w> {
    /// Unquoted text.
    Bare(String),
    /// Any other part.
    Part(&'w Part),
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Char(char),
    Part(usize),
}

/// The words that `parts` become.
pub fn expand(parts: &[Part]) -> Vec<Vec<Atom<'_>>> {
    let braces = |part: &Part| matches!(part, Part::Bare(text) if text.contains('{'));
    if !parts.iter().any(braces) {
        let plain = parts.iter().map(|part| match part {
            Part::Bare(text) => Atom::Bare(text.clone()),
            other => Atom::Part(other),
        });
        return vec![plain.collect()];
    }
    let mut units = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Bare(text) => units.extend(text.chars().map(Unit::Char)),
            _ => units.push(Unit::Part(index)),
        }
    }
    let mut words = Vec::new();
    if units.len() > MAX_UNITS || !spread(&units, &mut words, 0) {
        words = vec![vec![Unit::Char(ANY)]];
    }
    words.iter().map(|units| atoms(units, parts)).collect()
}

fn atoms<'w>(units: &[Unit], parts: &'w [Part]) -> Vec<Atom<'w>> {
    let mut out: Vec<Atom<'w>> = Vec::new();
    for unit in units {
        match (unit, out.last_mut()) {
            (Unit::Char(c), Some(Atom::Bare(text))) => text.push(*c),
            (Unit::Char(c), _) => out.push(Atom::Bare(c.to_string())),
            (Unit::Part(index), _) => out.push(Atom::Part(&parts[*index])),
        }
    }
    out
}

/// Expands the first braces and goes on with each result; false when there are too many.
fn spread(units: &[Unit], out: &mut Vec<Vec<Unit>>, depth: usize) -> bool {
    let Some((open, close)) = first_braces(units) else {
        out.push(units.to_vec());
        return out.len() <= MAX_WORDS;
    };
    if depth > 16 {
        return false;
    }
    let inside = &units[open + 1..close];
    let choices = choices(inside);
    choices.into_iter().all(|choice| {
        let mut word = units[..open].to_vec();
        word.extend(choice);
        word.extend_from_slice(&units[close + 1..]);
        spread(&word, out, depth + 1)
    })
}

/// The first pair of braces that has a comma or a range at its own level.
fn first_braces(units: &[Unit]) -> Option<(usize, usize)> {
    let mut from = 0;
    // A word with many lone braces is not worth a search from each of them.
    for _ in 0..64 {
        let open = from + units[from..].iter().position(|u| *u == Unit::Char('{'))?;
        if let Some(close) = matching(units, open) {
            return Some((open, close));
        }
        from = open + 1;
    }
    None
}

fn matching(units: &[Unit], open: usize) -> Option<usize> {
    let (mut level, mut splits) = (0usize, false);
    for (at, unit) in units.iter().enumerate().skip(open) {
        match unit {
            Unit::Char('{') => level += 1,
            Unit::Char('}') => {
                level -= 1;
                if level == 0 {
                    return splits.then_some(at);
                }
            }
            Unit::Char(',') if level == 1 => splits = true,
            Unit::Char('.') if level == 1 && units.get(at + 1) == Some(&Unit::Char('.')) => {
                splits = true;
            }
            _ => {}
        }
    }
    None
}

fn choices(inside: &[Unit]) -> Vec<Vec<Unit>> {
    let mut out = vec![Vec::new()];
    let mut level = 0usize;
    for unit in inside {
        match unit {
            Unit::Char('{') => level += 1,
            Unit::Char('}') => level = level.saturating_sub(1),
            Unit::Char(',') if level == 0 => {
                out.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(*unit);
        }
    }
    // A range: its numbers or letters are a name without a slash.
    if out.len() == 1 {
        vec![vec![Unit::Char(STAR)]]
    } else {
        out
    }
}

/// Whether an atom is bare text that starts with `~`.
pub fn tilde(atom: Option<&Atom<'_>>) -> Option<String> {
    match atom {
        Some(Atom::Bare(text)) if text.starts_with('~') => {
            let name = text[1..].split('/').next().unwrap_or_default();
            marks::exact(name).then(|| name.to_owned())
        }
        _ => None,
    }
}
