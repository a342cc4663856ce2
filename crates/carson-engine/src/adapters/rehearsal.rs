//! The rehearsal engine: Carson's own player of scripts (`rehearsal/`) in the place of a CLI.

use std::ops::ControlFlow;

use carson_core::repetition::CallPrint;
use carson_proc::{Command, Exit, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::adapter::Adapter;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::open_calls::print_of;
use crate::reader::{Reader, last_words};
use crate::said::Said;
use crate::session::{Denied, Ended, Event, Limit, LimitKind, Session, SessionEnd};

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "rehearsal",
    driven: None,
    command,
    reader: |_, _| Box::new(Output::default()),
    says,
    variables: |_| vec![("CARSON_MAX_TURNS", "…"), ("CARSON_STAGE", "…")],
    tells_denials: true,
};

fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    let script = engine
        .script
        .as_ref()
        .ok_or(EngineError::Incomplete { what: "script" })?;
    Ok(Command::new(&engine.program, session.cwd)
        .arg("rehearsal")
        .arg(script)
        .exact_env(session.env.clone())
        .env("CARSON_STAGE", session.stage.as_str())
        .env("CARSON_MAX_TURNS", session.max_turns.to_string())
        .stdin_bytes(session.prompt))
}

fn says(event: &Value) -> Vec<Said> {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    match event["type"].as_str() {
        Some("say") => vec![Said::Text(text("text"))],
        Some("tool") => {
            let (tool, call) = (text("name"), text("call"));
            let denied = event["denied"].as_str().map(|reason| Said::Result {
                text: reason.to_owned(),
                failed: true,
            });
            [Said::Call { tool, call }]
                .into_iter()
                .chain(denied)
                .collect()
        }
        _ => Vec::new(),
    }
}

#[derive(Default)]
struct Output {
    text: String,
    turns: u32,
    denied: Vec<Denied>,
    limit: Option<Limit>,
    max_turns: bool,
}

impl Reader for Output {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            return ControlFlow::Continue(());
        };
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str() {
            Some("say") => {
                self.turns += 1;
                self.text = text("text");
                on_event(&Event::Text(self.text.clone()));
            }
            Some("tool") => {
                self.turns += 1;
                let (tool, call) = (text("name"), text("call"));
                on_event(&Event::ToolCall {
                    name: tool.clone(),
                    call: call.clone(),
                });
                on_event(&Event::ToolDone {
                    name: tool.clone(),
                    call: Some(CallPrint {
                        arguments: print_of([&event["call"]]),
                        result: print_of([&event["exit"], &event["denied"]]),
                    }),
                });
                if let Some(reason) = event["denied"].as_str() {
                    let denied = Denied {
                        tool,
                        call,
                        reason: reason.to_owned(),
                        by_hook: true,
                    };
                    on_event(&Event::ToolDenied(denied.clone()));
                    self.denied.push(denied);
                }
            }
            Some("limit") => {
                let resets_at = event["resets_at"].as_i64();
                self.limit = Some(Limit {
                    kind: LimitKind::UsageWindow,
                    resets_at: resets_at.and_then(|at| DateTime::from_timestamp(at, 0)),
                    message: "the script hit a limit".to_owned(),
                    remedy: None,
                    window: None,
                });
            }
            Some("max_turns") => self.max_turns = true,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn end(
        self: Box<Self>,
        done: &Finished,
        redactor: &Redactor,
        _now: DateTime<Utc>,
    ) -> SessionEnd {
        let ended = match (self.limit, done.exit) {
            (Some(limit), _) => Ended::Limited(limit),
            (None, _) if self.max_turns => Ended::MaxTurns,
            (None, Exit::Code(0)) => Ended::Completed,
            (None, exit) => Ended::Crashed {
                exit,
                message: last_words(done, redactor),
            },
        };
        SessionEnd {
            ended,
            text: self.text,
            turns: self.turns,
            tokens_in: 0,
            tokens_out: 0,
            cost_usd: None,
            denied: self.denied,
            elapsed: done.elapsed,
            leaked: done.leaked,
            out_of_memory: done.out_of_memory,
            exit: None,
            said: String::new(),
        }
    }
}
