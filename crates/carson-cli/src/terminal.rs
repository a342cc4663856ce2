//! What the terminal can show: its width, its colours, and one line that is written anew in place.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Where something is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The answer.
    Output,
    /// What is said beside it.
    Error,
}

/// Whether that is a terminal that can move its cursor.
pub fn is_live(stream: Stream) -> bool {
    let terminal = match stream {
        Stream::Output => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    };
    terminal && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether colours are to be shown there: on a terminal, unless `NO_COLOR` says otherwise
/// (<https://no-color.org>).
pub fn has_colours(stream: Stream) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !plain && is_live(stream)
}

/// How many columns there are; `None` where nobody reads lines of a width.
pub fn width(stream: Stream) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.parse().ok());
    let asked = || match stream {
        Stream::Output => terminal_size_of(io::stdout()),
        Stream::Error => terminal_size_of(io::stderr()),
    };
    let asked = || asked().map(|(Width(columns), _)| usize::from(columns));
    said.or_else(asked).filter(|columns| *columns > 0)
}

/// A line that fits so many columns; `…` says where it was cut.
pub fn fitted(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| match left.checked_sub(c.width().unwrap_or(0)) {
        Some(less) => {
            left = less;
            true
        }
        None => false,
    };
    let mut cut: String = line.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// Whether a live line stands on standard error.
static LIVE: Mutex<bool> = Mutex::new(false);

/// Writes the live line in the place of the one before. Nothing in it may move the cursor.
pub fn live(line: &str) {
    // One column stays free: a full line would wrap.
    let columns = width(Stream::Error).unwrap_or(80).saturating_sub(1);
    let line = fitted(line, columns);
    let mut stands = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    *stands = true;
    let _ = write!(io::stderr(), "\r\u{1b}[2K{line}");
}

/// Takes the live line away, before anything else is printed.
pub fn clear_live() {
    let mut stands = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *stands) {
        let _ = write!(io::stderr(), "\r\u{1b}[2K");
    }
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_line_says_where_it_was_cut_and_counts_columns() {
        assert_eq!(fitted("short", 5), "short");
        assert_eq!(fitted("longer", 5), "long…");
        // Each of these takes two columns.
        assert_eq!(fitted("日本語", 4), "日…");
        assert_eq!(fitted("日本語", 5), "日本…");
        assert_eq!(fitted("any", 0), "…");
    }
}
