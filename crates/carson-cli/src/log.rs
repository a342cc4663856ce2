//! Where logs go: standard error, one line each; the daemon's supervisor keeps them.

use std::io::{IsTerminal, Result, Write};

use carson_redact::Redactor;
use tracing_subscriber::EnvFilter;

use crate::print;

/// Starts logging at a level, or as `CARSON_LOG` says.
pub fn start(level: &str, json: bool) {
    let filter = EnvFilter::try_from_env("CARSON_LOG").unwrap_or_else(|_| {
        EnvFilter::new(format!(
            "{level},tokio_cron_scheduler=warn,sqlx=warn,hyper=warn"
        ))
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // Logs of daemons and firings are files: colours are for a terminal.
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(|| Redacted(print::redactor()));
    // A second start (never in one process) would be refused; there is nothing to do about it.
    let _ = if json {
        builder.json().flatten_event(true).try_init()
    } else {
        builder.with_target(false).try_init()
    };
}

/// Standard error, without secrets. The formatter writes each event in one piece, so nothing is
/// split here.
struct Redacted(Redactor);

impl Write for Redacted {
    fn write(&mut self, event: &[u8]) -> Result<usize> {
        std::io::stderr().write_all(&self.0.redact_bytes(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> Result<()> {
        std::io::stderr().flush()
    }
}
