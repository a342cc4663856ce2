//! What the hook says of itself: calls that it could not judge.
//!
//! A refused call is known from the session's own output; a failure of the hook only from the event
//! file, because the CLI goes on as if nothing had happened.

use std::path::Path;

use carson_config::HookFailure;
use serde_json::Value;
use tracing::warn;

use crate::firing::Firing;
use crate::stages::hook_check;
use crate::stages::workspace::Placed;

/// Most failures of one session that are noted; more say nothing new.
const MAX_NOTED: usize = 20;

/// Notes the failures of a session's hook beside the firing's blocked calls, under the name of the
/// event (`hook_failed_open: why`), and begins a new event file. A hook that is gone writes nothing,
/// so it is asked the two known questions again.
pub(crate) async fn report(firing: &Firing<'_>, placed: &Placed<'_, '_>, hook: &str) {
    let mut failures = match take(&placed.place.bench.hook_events()) {
        Ok(text) => failures(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => vec![format!("hook events cannot be read: {error}")],
    };
    failures.truncate(MAX_NOTED);
    if let Ok(Some(why)) = hook_check::wrong_answer(firing, placed, hook).await {
        let event = match firing.role.hook_failure {
            HookFailure::Open => "hook_failed_open",
            HookFailure::Closed => "hook_failed_closed",
        };
        failures.push(format!("{event}: after the session {why}"));
    }
    let now = firing.house.clock.now();
    for failure in failures {
        warn!(firing.id = %firing.id, failure, "the hook could not judge a call");
        let failure = firing.house.redactor.redact(&failure);
        let noted = firing
            .store()
            .add_blocked_call(firing.id, &failure, "hook", "", now)
            .await;
        if let Err(error) = noted {
            warn!(firing.id = %firing.id, %error, "a failure of the hook could not be noted");
        }
    }
}

/// The file's text; the file is gone afterwards.
fn take(file: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(file)?;
    std::fs::remove_file(file)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn failures(text: &str) -> Vec<String> {
    let failure = |line: &str| {
        let event: Value = serde_json::from_str(line).ok()?;
        let name = event["event"].as_str()?;
        let why = event["reason"].as_str().unwrap_or_default();
        name.starts_with("hook_failed")
            .then(|| format!("{name}: {why}"))
    };
    text.lines().filter_map(failure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_are_reported() {
        let text = "{\"event\":\"blocked\",\"rule\":\"x\",\"reason\":\"y\"}\n\
                    half a li\n\
                    {\"event\":\"hook_failed_open\",\"reason\":\"no answer within 500 ms\"}\n";
        assert_eq!(
            failures(text),
            ["hook_failed_open: no answer within 500 ms"]
        );
    }

    #[test]
    fn a_file_is_taken_once() {
        let name = format!("carson-hook-events-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, "x").unwrap();
        assert_eq!(take(&file).unwrap(), "x");
        assert!(take(&file).is_err());
    }
}
