//! What is said when a run has ended.

use std::io::{self, IsTerminal, Write};

use carson_redact::Redactor;

use crate::events::{Event, Watch};
use crate::model::EndpointError;
use crate::outcome::{End, Stop};
use crate::progress::Progress;
use crate::visible::visible_lines;

/// The final text, the last event and the last line; the exit code.
pub fn say(end: &End, json: bool, redactor: &Redactor, progress: &mut Progress) -> u8 {
    let outcome = end.outcome();
    let (status, retry_after) = match &end.stop {
        Stop::Endpoint(EndpointError::Refused {
            status,
            retry_after,
            ..
        }) => (Some(*status), *retry_after),
        _ => (None, None),
    };
    progress.see(&Event::End {
        outcome,
        exit_code: outcome.exit_code(),
        stop: end.stop.name(),
        why: end.stop.to_string(),
        verified: end.verified,
        status,
        retry_after_seconds: retry_after.map(|time| time.as_secs()),
        spent: end.spent,
        usage: end.usage,
        text: &end.text,
    });
    if !json && !end.text.trim().is_empty() {
        let text = redactor.redact(end.text.trim_end());
        let mut out = io::stdout();
        // Nobody may listen any more; the exit code still says how it ended.
        let _ = match out.is_terminal() {
            true => writeln!(out, "{}", visible_lines(&text)),
            false => writeln!(out, "{text}"),
        };
    }
    progress.line(&end.line());
    outcome.exit_code()
}
