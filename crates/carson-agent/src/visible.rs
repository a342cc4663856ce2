//! Words of a model on their way to a terminal.

use carson_core::untrusted::is_hidden;

/// One line as it may be shown: what would move the cursor, colour or reorder is a replacement
/// character.
#[must_use]
pub fn visible(line: &str) -> String {
    let shown = |c: char| {
        if c != '\t' && is_hidden(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    line.chars().map(shown).collect()
}

/// The same for a text of several lines.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}
