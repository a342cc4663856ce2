//! The only place that prints.
#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::{IsTerminal, Write};
use std::sync::LazyLock;

use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::Serialize;
use serde_json::Value;

/// The one redactor of this process: what the log, the rows, the forge, the chat and the terminal
/// know as secret is the same.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// A handle to it.
pub fn redactor() -> Redactor {
    REDACTOR.clone()
}

/// A line. Much of it comes from issues, models and checks, so it cannot move the cursor.
pub fn line(text: &str) {
    raw(&harmless(text));
}

/// A line as it stands. A reader that went away (`carson … | head`) is no error.
pub fn raw(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", REDACTOR.redact(text));
}

/// A line on standard error.
pub fn error(text: &str) {
    eprintln!("{}", REDACTOR.redact(&harmless(text)));
}

/// A line that somebody should see: red where a terminal shows it.
pub fn alarm(text: &str) {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !std::io::stdout().is_terminal() {
        return line(text);
    }
    for one in harmless(text).lines() {
        raw(&format!("\u{1b}[1;31m{one}\u{1b}[0m"));
    }
}

/// Control characters, and the marks that reorder text (CVE-2021-42574), become visible.
fn harmless(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let seen = |c| {
        if hidden(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(seen).collect()
}

/// A value as JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => raw(&text),
        Err(problem) => error(&format!("error: the answer is no JSON: {problem}")),
    }
}

/// `1 firing`, `2 firings`.
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    let plural = match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    };
    format!("{count} {plural}")
}

/// An instant for people; JSON has it to the microsecond.
pub fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// What was done: a line for people, else the value.
pub fn done(as_json: bool, text: &str, value: &Value) {
    if as_json {
        json(value);
    } else {
        line(text);
    }
}

/// A table without lines.
pub fn table(header: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.to_vec());
    table.add_rows(rows);
    for row in table.lines() {
        line(row.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, harmless};

    #[test]
    fn one_is_no_plural() {
        let said = [
            counted(1_u32, "turn"),
            counted(0_u32, "turn"),
            counted(2_u32, "repository"),
        ];
        assert_eq!(said, ["1 turn", "0 turns", "2 repositories"]);
    }

    #[test]
    fn a_terminal_is_not_steered_by_what_is_printed() {
        assert_eq!(harmless("a\u{1b}[2Jb\rc\u{202e}d\u{7}"), "a�[2Jb�c�d�");
        assert_eq!(
            harmless("two\n\tlines, ümläut → ok"),
            "two\n\tlines, ümläut → ok"
        );
    }
}
