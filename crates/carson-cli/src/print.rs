//! The only place that prints.
//!
//! A reader that goes away (`carson … | head`) is no error: what it did not want is not printed, and
//! the verb ends with its own code.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use carson_core::stops::{Change, Part};
use carson_core::untrusted::visible;
use carson_redact::Redactor;
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::terminal::{self, Stream};

/// The one redactor of this process: what the log, the rows, the forge, the chat and the terminal
/// know as secret is the same.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// No column is made narrower: the eight digits of an id, or a short word.
const NARROWEST: usize = 8;

/// What kept a part of the answer from where it was to go: a full disk.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Whoever read the answer has gone.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// A handle to the redactor.
pub fn redactor() -> Redactor {
    REDACTOR.clone()
}

/// A line. Much of it comes from issues, models and checks, so it cannot move the cursor.
pub fn line(text: &str) {
    raw(&harmless(text));
}

/// A line that stays one, whatever somebody else wrote into it: a title or a reason with line breaks would else look
/// like lines that Carson says.
pub fn row(text: &str) {
    line(&flat(text));
}

/// The text without line breaks.
pub fn flat(text: &str) -> String {
    text.split([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ])
    .enumerate()
    .map(|(nth, line)| if nth == 0 { line } else { line.trim_start() })
    .collect::<Vec<_>>()
    .join(" ")
}

/// A line as it stands.
pub fn raw(text: &str) {
    terminal::clear_live();
    match writeln!(io::stdout(), "{}", REDACTOR.redact(text)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            UNREAD.store(true, Ordering::Relaxed);
        }
        Err(error) => {
            let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert(error);
        }
    }
}

/// Why some of the answer could not be written, where that was not its reader's wish.
pub fn lost() -> Option<io::Error> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether somebody still reads the answer: what would go on printing ends when nobody does.
pub fn is_read() -> bool {
    !UNREAD.load(Ordering::Relaxed)
}

/// A line on standard error.
pub fn error(text: &str) {
    terminal::clear_live();
    let _ = writeln!(io::stderr(), "{}", shown(text));
}

/// The text as everybody may see it: without secrets, and without what steers a terminal.
pub fn shown(text: &str) -> String {
    REDACTOR.redact(&harmless(text)).into_owned()
}

/// A line on what does not work: red where a terminal shows it.
pub fn alarm(text: &str) {
    coloured(text, "1;31");
}

/// A line on what somebody should know: yellow where a terminal shows it.
pub fn warning(text: &str) {
    coloured(text, "33");
}

/// The colour is one of ECMA-48.
fn coloured(text: &str, colour: &str) {
    if !terminal::has_colours(Stream::Output) {
        return line(text);
    }
    for one in harmless(text).lines() {
        raw(&format!("\u{1b}[{colour}m{one}\u{1b}[0m"));
    }
}

/// Control characters, the marks that reorder text, and all else that nobody would see become visible.
pub fn harmless(text: &str) -> String {
    visible(text)
}

/// A value as JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => raw(&text),
        Err(problem) => error(&format!("error: the answer is no JSON: {problem}")),
    }
}

/// What would change something, in one line; `carson` is how Carson is called.
pub fn change(carson: &str, change: &Change) -> String {
    let part = |part: &Part| match part {
        Part::Text(words) => words.clone(),
        Part::Command(typed) => format!("`{carson} {typed}`"),
        Part::Setting { key, value, file } => match value {
            Some(value) => format!("{key} = {value} in {file}"),
            None => format!("{key} in {file}"),
        },
    };
    change.parts().iter().map(part).collect()
}

/// A value as JSON, its keys in the order of the alphabet.
pub fn sorted_json(value: &impl Serialize) {
    match serde_json::to_value(value) {
        Ok(value) => json(&value),
        Err(problem) => error(&format!("error: the answer is no JSON: {problem}")),
    }
}

/// What was done: a line for people, else the value.
pub fn done(as_json: bool, text: &str, value: &impl Serialize) {
    if as_json {
        sorted_json(value);
    } else {
        line(text);
    }
}

/// Rows: a table for people, or what there is to say where there is none; else the rows.
pub fn list<T: Serialize>(
    as_json: bool,
    rows: &[T],
    none: &str,
    header: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) {
    match rows {
        _ if as_json => json(&rows),
        [] => line(none),
        rows => table(header, rows.iter().map(row).collect()),
    }
}

/// A table without lines. On a terminal each row is one line of its width, and a cell that was cut ends
/// with `…`.
pub fn table(header: &[&str], rows: Vec<Vec<String>>) {
    let width = terminal::width(Stream::Output);
    laid_out(header, rows, width)
        .iter()
        .for_each(|row| line(row));
}

fn laid_out(header: &[&str], mut rows: Vec<Vec<String>>, width: Option<usize>) -> Vec<String> {
    // A line break in a cell is no new row.
    for cell in rows.iter_mut().flatten() {
        *cell = cell.replace(['\n', '\t'], " ");
    }
    if let Some(width) = width {
        let columns = columns_within(header, &rows, width);
        for row in &mut rows {
            for (cell, columns) in row.iter_mut().zip(&columns) {
                *cell = terminal::fitted(cell, *columns);
            }
        }
    }
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.to_vec());
    table.add_rows(rows);
    table.lines().map(|row| row.trim_end().to_owned()).collect()
}

/// How wide each column may be: the widest give way first, so that ids and words stay whole.
fn columns_within(header: &[&str], rows: &[Vec<String>], width: usize) -> Vec<usize> {
    let widest = |(index, name): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| Some(row.get(index)?.width()));
        cells.chain([name.width()]).max().unwrap_or(0)
    };
    let mut columns: Vec<usize> = header.iter().enumerate().map(widest).collect();
    // One blank at each side of a cell.
    let room = width.saturating_sub(2 * columns.len());
    while columns.iter().sum::<usize>() > room {
        let Some(most) = columns.iter_mut().max().filter(|most| **most > NARROWEST) else {
            break;
        };
        *most -= 1;
    }
    columns
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::{flat, harmless, laid_out};

    #[test]
    fn what_somebody_wrote_makes_no_line_of_its_own() {
        let title = "  ready  #1 harmless\n  ready  #2 FORGED\r\n\u{2028}\u{85}x";
        assert_eq!(flat(title), "  ready  #1 harmless ready  #2 FORGED    x");
    }

    #[test]
    fn a_table_fits_the_width_and_says_where_it_was_cut() {
        let long = "the promise does not pass, and says so in many words";
        let rows = vec![vec!["6f8d0a1b".to_owned(), long.to_owned()]];
        let cut = laid_out(&["ID", "REASON"], rows.clone(), Some(30));
        assert_eq!(cut.len(), 2, "{cut:#?}");
        assert!(cut.iter().all(|line| line.width() <= 30), "{cut:#?}");
        assert!(
            cut[1].contains("6f8d0a1b") && cut[1].ends_with('…'),
            "{cut:#?}"
        );
        let whole = laid_out(&["ID", "REASON"], rows, None);
        assert!(whole[1].ends_with("many words"), "{whole:#?}");
    }

    #[test]
    fn a_terminal_is_not_steered_by_what_is_printed() {
        assert_eq!(harmless("a\u{1b}[2Jb\rc\u{202e}d\u{7}"), "a�[2Jb�c�d�");
        assert_eq!(harmless("a\u{200b}b\u{2028}c\u{e0041}"), "a�b�c�");
        assert_eq!(
            harmless("two\n\tlines, ümläut → ok"),
            "two\n\tlines, ümläut → ok"
        );
    }
}
