//! Letters that nobody sees: a PRD that holds one says something else than what its reader reads.

use carson_core::untrusted::is_hidden;

use super::finding::Finding;
use super::json::{Json, Pointer};

/// One finding for each key and each text of a document that holds such a letter. Line breaks and tabs are seen.
#[must_use]
pub fn hidden_letters(document: &Json) -> Vec<Finding> {
    let mut found = Vec::new();
    document.walk(&Pointer::root(), &mut |at, value| match value {
        Json::Text(text) => found.extend(hidden_in(text).map(|c| {
            Finding::new(
                at,
                format!("holds {}, which nobody sees: take it out", name(c)),
            )
        })),
        Json::Object(object) => {
            let hidden = |(key, _)| hidden_in(key).map(|c| (key, c));
            found.extend(object.entries().filter_map(hidden).map(|(key, c)| {
                let message = format!("the key holds {}, which nobody sees", name(c));
                Finding::new(&at.key(key), message)
            }));
        }
        _ => {}
    });
    found
}

/// The first of them in a text.
fn hidden_in(text: &str) -> Option<char> {
    text.chars().find(|&c| is_hidden(c) && !"\n\t".contains(c))
}

/// The first of them in a text of many lines, with its line, from 1. The end of a line may be one of DOS.
pub(crate) fn hidden_in_lines(text: &str) -> Option<(usize, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split('\n').zip(1..);
    lines.find_map(|(line, number)| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some((number, name(hidden_in(line)?)))
    })
}

fn name(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_named_once() {
        let json = Json::parse(
            r#"{"title": "bad\u202Etitle\u202E", "fine": "a\nb\tc", "l": ["x", "z\u200b"], "k\u2066": 1, "del": "\u007f"}"#,
        );
        let found: Vec<String> = hidden_letters(&json.unwrap())
            .iter()
            .map(ToString::to_string)
            .collect();
        let right = [
            "/k\\u{2066}: the key holds U+2066, which nobody sees",
            "/title: holds U+202E, which nobody sees: take it out",
            "/l/1: holds U+200B, which nobody sees: take it out",
            "/del: holds U+007F, which nobody sees: take it out",
        ];
        assert_eq!(found, right);
    }
}
