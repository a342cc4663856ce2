//! What is said when a run has ended.

use std::io::{self, IsTerminal, Write};

use carson_redact::Redactor;

use crate::events::{Event, Watch};
use crate::model::EndpointError;
use crate::outcome::{End, Stop};
use crate::progress::Progress;
use crate::visible::visible_lines;

/// All went well, but nobody got the answer.
const LOST: u8 = 1;

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
    let mut lost = progress.lost();
    if !json && !end.text.trim().is_empty() {
        let text = redactor.redact(end.text.trim_end());
        let mut out = io::stdout();
        let said = match out.is_terminal() {
            true => writeln!(out, "{}", visible_lines(&text)),
            false => writeln!(out, "{text}"),
        };
        lost = said.err();
    }
    // Where nobody listens any more, the exit code still says how it ended.
    let lost = lost.filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
    if let Some(error) = &lost {
        progress.line(&format!(
            "carson-agent: the answer could not be written: {error}"
        ));
    }
    progress.line(&end.line());
    match (outcome.exit_code(), lost) {
        (0, Some(_)) => LOST,
        (code, _) => code,
    }
}
