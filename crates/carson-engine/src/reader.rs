//! How the output of a CLI is read, whichever it is.

use std::ops::ControlFlow;

use carson_proc::Finished;
use carson_redact::Redactor;
use chrono::{DateTime, Utc};

use crate::session::{Ended, Event, SessionEnd};

/// Reads one CLI's output.
pub(crate) trait Reader: Send {
    /// One line of standard output. `Break` stops the CLI.
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()>;
    /// One line of standard error.
    fn aside(&mut self, _line: &[u8], _on_event: &mut dyn FnMut(&Event)) {}
    /// How it ended if it was stopped while it waited for its provider, as far as its words tell.
    fn waited(
        &mut self,
        _done: &Finished,
        _redactor: &Redactor,
        _now: DateTime<Utc>,
    ) -> Option<Ended> {
        None
    }
    /// Everything it said, once it has ended.
    fn end(self: Box<Self>, done: &Finished, redactor: &Redactor, now: DateTime<Utc>)
    -> SessionEnd;
}

/// The end of what a process wrote to standard error, for a message.
pub(crate) fn last_words(done: &Finished, redactor: &Redactor) -> String {
    // First redacted, then cut: half a secret would not be found.
    let said = done.stderr.text();
    let said = redactor.redact(&said);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(3);
    lines[from..].join("; ").chars().take(500).collect()
}
