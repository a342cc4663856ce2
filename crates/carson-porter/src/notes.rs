//! What people hear of a porter: lines in the firing's event file, beside those of the hook.
//!
//! The session can write that file as well. What stands there is shown and decides nothing.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use carson_core::untrusted::one_line;
use carson_redact::Redactor;
use serde_json::json;

/// Most notes of one porter; more say nothing new.
const MOST: u32 = 20;
/// Most letters of one.
const LONGEST: usize = 400;

/// Writes them.
#[derive(Debug)]
pub(crate) struct Notes {
    file: Option<PathBuf>,
    server: String,
    redactor: Redactor,
    written: u32,
}

/// What a note is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum About {
    /// A call of a tool that was not granted.
    Refused,
    /// A server that does not work as it should.
    Failed,
}

impl Notes {
    pub(crate) fn of(server: &str, file: Option<PathBuf>, redactor: &Redactor) -> Self {
        Self {
            file,
            server: server.to_owned(),
            redactor: redactor.clone(),
            written: 0,
        }
    }

    /// Adds one; what cannot be written is nobody's loss.
    pub(crate) fn add(&mut self, about: About, text: &str) {
        let Some(file) = self.file.as_ref().filter(|_| self.written < MOST) else {
            return;
        };
        self.written += 1;
        let text = one_line(&self.redactor.redact(text), LONGEST);
        let event = match about {
            About::Refused => "mcp_refused",
            About::Failed => "mcp_failed",
        };
        let line = json!({ "event": event, "reason": format!("{}: {text}", self.server) });
        // It is there already: what a session puts in its place is not followed.
        let file = OpenOptions::new().append(true).open(file);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}
