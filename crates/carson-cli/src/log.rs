//! Where logs go: standard error, one line each; the daemon's supervisor keeps them.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

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
        .with_writer(std::io::stderr);
    // A second start (never in one process) would be refused; there is nothing to do about it.
    let _ = if json {
        builder.json().flatten_event(true).try_init()
    } else {
        builder.with_target(false).try_init()
    };
}
