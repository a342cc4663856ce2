//! What the hook says of itself, in the event file: calls that it could not judge, and those that
//! it refused.
//!
//! A failure is known only from here, because the CLI goes on as if nothing had happened. A refused
//! call is known from the output of a CLI that tells of it, and from here where none does.

use std::path::Path;

use carson_config::HookFailure;
use carson_engine::Denied;
use serde_json::Value;
use tracing::warn;

use crate::firing::Firing;
use crate::stages::hook_check;
use crate::stages::workspace::Placed;

/// Most failures of one session that are noted; more say nothing new.
const MAX_NOTED: usize = 20;

/// What the hook wrote during one session.
#[derive(Debug, Default)]
pub(crate) struct HookEvents {
    /// The refused calls.
    pub(crate) denied: Vec<Denied>,
    /// The calls that could not be judged: the name of the event and why.
    failures: Vec<String>,
}

impl HookEvents {
    /// Reads the event file and begins a new one.
    pub(crate) fn take(file: &Path) -> Self {
        match take(file) {
            Ok(text) => Self::of(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(error) => Self {
                failures: vec![format!("hook events cannot be read: {error}")],
                ..Self::default()
            },
        }
    }

    fn of(text: &str) -> Self {
        let mut events = Self::default();
        for line in text.lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let field = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            let name = field("event");
            if name.starts_with("hook_failed") {
                events.failures.push(format!("{name}: {}", field("reason")));
            } else if name == "blocked" {
                events.denied.push(Denied {
                    tool: field("tool"),
                    reason: format!("blocked by rule {}: {}", field("rule"), field("reason")),
                    call: field("call"),
                    by_hook: true,
                });
            }
        }
        events
    }

    /// Notes the failures beside the firing's blocked calls. A hook that is gone writes nothing, so
    /// it is asked the two known questions again.
    pub(crate) async fn report(self, firing: &Firing<'_>, placed: &Placed<'_, '_>, hook: &str) {
        let mut failures = self.failures;
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
}

/// The file's text; the file is gone afterwards.
fn take(file: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(file)?;
    std::fs::remove_file(file)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_refusals_are_told_apart() {
        let text = "{\"event\":\"blocked\",\"rule\":\"x\",\"tool\":\"Bash\",\"reason\":\"y\",\"call\":\"z\"}\n\
                    half a li\n\
                    {\"event\":\"hook_failed_open\",\"reason\":\"no answer within 500 ms\"}\n";
        let events = HookEvents::of(text);
        assert_eq!(
            events.failures,
            ["hook_failed_open: no answer within 500 ms"]
        );
        let [denied] = events.denied.as_slice() else {
            panic!("{events:?}")
        };
        assert_eq!(denied.reason, "blocked by rule x: y");
        assert_eq!((denied.tool.as_str(), denied.call.as_str()), ("Bash", "z"));
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
