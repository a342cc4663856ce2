//! What the hook says of itself, in the event file: calls that it could not judge, and those that
//! it refused.
//!
//! The session can write that file as well as the hook can. So what it says is shown to people and
//! decides nothing: only so much of it is read, by a confined child, and only so many rows are made
//! of it.

use std::path::{Path, PathBuf};

use carson_config::HookFailure;
use carson_proc::inspector::{Bounds, Desk, Question};
use carson_store::Stopped;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::warn;

use crate::ctx::Ctx;
use crate::hook_check;
use carson_bench::bench::Bench;

/// Bytes of the file that are read, from its end.
const TAIL: u64 = 256 * 1024;
/// Letters of a field that are kept.
const FIELD: usize = 500;
/// Most failures, and most refused calls, of one session that are noted; more say nothing new.
const MAX_NOTED: usize = 20;

/// What the hook wrote during one session, or somebody in its name.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookEvents {
    /// The refused calls.
    refused: Vec<Refused>,
    /// The calls that could not be judged, or only coarsely: the name of the event and why.
    failures: Vec<String>,
    /// What stood before MCP servers says of them, in the same form.
    #[serde(default)]
    servers: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    rule: String,
    tool: String,
    call: String,
}

/// Asks what is in an event file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Events {
    file: PathBuf,
}

impl Question for Events {
    const NAME: &'static str = "events";
    type Answer = HookEvents;

    fn answer(self) -> Result<HookEvents, String> {
        let text = tail(&self.file).map_err(|error| error.to_string())?;
        Ok(HookEvents::of(&text))
    }
}

/// The end of the file, from the beginning of a line on.
fn tail(file: &Path) -> std::io::Result<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    if !file.symlink_metadata()?.is_file() {
        return Err(std::io::Error::other("it is no plain file"));
    }
    let mut file = std::fs::File::open(file)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl HookEvents {
    /// Reads the event file and begins a new one.
    pub(super) async fn take(ctx: &Ctx<'_>, bench: &Bench) -> Self {
        let file = bench.hook_events();
        match file.symlink_metadata() {
            Ok(found) if !(found.is_file() && found.len() == 0) => {}
            _ => return Self::default(),
        }
        let events = Self::ask(ctx, bench, &file).await;
        let removed = std::fs::remove_file(&file);
        let events = removed.map_err(|error| error.to_string()).and(events);
        events.unwrap_or_else(|why| Self {
            failures: vec![format!("hook events cannot be read: {why}")],
            ..Self::default()
        })
    }

    async fn ask(ctx: &Ctx<'_>, bench: &Bench, file: &Path) -> Result<Self, String> {
        let question = Events {
            file: file.to_owned(),
        };
        let desk = Desk {
            own: bench.sandbox(),
            read: vec![file.to_owned()],
            ..Desk::default()
        };
        let bounds = Bounds {
            wall_clock: std::time::Duration::from_secs(10),
            memory_mb: 256,
            file_size_mb: 1,
            answer: 1 << 20,
        };
        let asked = ctx.home.inspector.ask(&question, &desk, &bounds).await;
        asked.map_err(|error| error.to_string())
    }

    fn of(text: &str) -> Self {
        let mut events = Self::default();
        // The newest say most.
        for line in text.lines().rev() {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let field = |key: &str| {
                let text = event[key].as_str().unwrap_or_default();
                text.chars().take(FIELD).collect::<String>()
            };
            let name = field("event");
            let odd = name.starts_with("hook_failed") || name == "hook_coarse";
            if odd && events.failures.len() < MAX_NOTED {
                events.failures.push(format!("{name}: {}", field("reason")));
            } else if name.starts_with("mcp_") && events.servers.len() < MAX_NOTED {
                events.servers.push(format!("{name}: {}", field("reason")));
            } else if name == "blocked" && events.refused.len() < MAX_NOTED {
                events.refused.push(Refused {
                    rule: format!("blocked by rule {}: {}", field("rule"), field("reason")),
                    tool: field("tool"),
                    call: field("call"),
                });
            }
        }
        events.failures.reverse();
        events.servers.reverse();
        events.refused.reverse();
        events
    }

    /// Notes what it says beside the firing's blocked calls; `told` says that the CLI itself told of
    /// the refused ones, and of its `calls` of tools. A hook that is gone writes nothing, so where it may
    /// have been needed its program must be the one that was asked before.
    pub(super) async fn report(
        &self,
        ctx: &Ctx<'_>,
        hook: &hook_check::Program,
        calls: u32,
        told: bool,
    ) {
        let mut failures = self.failures.clone();
        let was_needed = !told || calls > 0 || !failures.is_empty();
        if was_needed && let Some(why) = hook.changed() {
            let event = match ctx.role.hook_failure {
                HookFailure::Open => "hook_failed_open",
                HookFailure::Closed => "hook_failed_closed",
            };
            failures.push(format!("{event}: after the session {why}"));
        }
        let refused = self.refused.iter().filter(|_| !told).map(|one| Stopped {
            rule: one.rule.clone(),
            tool: one.tool.clone(),
            call: one.call.clone(),
        });
        let servers = self.servers.iter().map(|said| Stopped {
            rule: ctx.home.redactor.redact(said).into_owned(),
            tool: "mcp".to_owned(),
            call: String::new(),
        });
        let failed = failures.into_iter().map(|failure| {
            warn!(firing.id = %ctx.id, failure, "the hook could not follow a call to its end");
            Stopped {
                rule: ctx.home.redactor.redact(&failure).into_owned(),
                tool: "hook".to_owned(),
                call: String::new(),
            }
        });
        ctx.note_stopped(refused.chain(servers).chain(failed).collect())
            .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_refusals_are_told_apart() {
        let text = "{\"event\":\"blocked\",\"rule\":\"x\",\"tool\":\"Bash\",\"reason\":\"y\",\"call\":\"z\"}\n\
                    half a li\n\
                    {\"event\":\"hook_failed_open\",\"reason\":\"no answer within 500 ms\"}\n\
                    {\"event\":\"hook_coarse\",\"reason\":\"too long\"}\n\
                    {\"event\":\"mcp_failed\",\"reason\":\"docs: it has ended\"}\n";
        let events = HookEvents::of(text);
        assert_eq!(
            events.failures,
            [
                "hook_failed_open: no answer within 500 ms",
                "hook_coarse: too long"
            ]
        );
        assert_eq!(events.servers, ["mcp_failed: docs: it has ended"]);
        let [refused] = events.refused.as_slice() else {
            panic!("{events:?}")
        };
        assert_eq!(refused.rule, "blocked by rule x: y");
        assert_eq!(
            (refused.tool.as_str(), refused.call.as_str()),
            ("Bash", "z")
        );
    }

    #[test]
    fn only_so_much_of_a_file_is_read_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("events");
        let line = format!(
            "{{\"event\":\"blocked\",\"rule\":\"{}\"}}\n",
            "x".repeat(5_000)
        );
        std::fs::write(&file, line.repeat(2_000)).unwrap();
        let events = Events { file: file.clone() }.answer().unwrap();
        assert_eq!(events.refused.len(), MAX_NOTED);
        assert!(events.refused.iter().all(|one| one.rule.len() < 1_000));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        assert!(Events { file }.answer().is_err());
    }
}
