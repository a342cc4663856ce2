//! The commands of a line for `sh`, as far as they can be told without a shell.

/// What ends a command.
const ENDS: &str = "\n;&|(){}";
/// Words in front of a command.
const BEFORE: [&str; 9] = [
    "!", "then", "else", "do", "if", "elif", "while", "until", "exec",
];

/// Each command, from its first word on.
pub(super) fn commands(step: &str) -> impl Iterator<Item = &str> {
    pieces(step).map(|(_, command, _)| command)
}

/// The step with other commands in the place of those for which there is one; all else stays as it stands.
pub(super) fn each_command(step: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut all = String::new();
    for (before, command, behind) in pieces(step) {
        let other = other(command);
        all.push_str(before);
        all.push_str(other.as_deref().unwrap_or(command));
        all.push_str(behind);
    }
    all
}

/// What stands before a command, the command, and what ends it.
fn pieces(step: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let ends = |letter: char| ENDS.contains(letter);
    step.split_inclusive(ends).map(move |piece| {
        let end = piece.trim_end_matches(|letter: char| ends(letter) || letter.is_whitespace());
        let begin = end.len() - from_command(end).len();
        (
            &piece[..begin],
            &piece[begin..end.len()],
            &piece[end.len()..],
        )
    })
}

/// Without words that stand in front, and variables that are set for it.
fn from_command(text: &str) -> &str {
    let text = text.trim_start();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_variable = first.split_once('=').is_some_and(|(name, value)| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        // A quoted value may have several words.
        name.chars().all(is_of_name) && !value.contains(['"', '\''])
    });
    match BEFORE.contains(&first) || is_variable {
        true if !first.is_empty() => from_command(&text[first.len()..]),
        _ => text,
    }
}
