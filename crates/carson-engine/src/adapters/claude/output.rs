//! Claude Code's event stream (`--output-format stream-json`).
//!
//! Read tolerantly: unknown events are passed over, a line that is no JSON never fails a session.
//! The end is read from `is_error`, `terminal_reason`, `api_error_status` and the exit, never from
//! `subtype: "success"`, which stands in every API error too.

use std::ops::ControlFlow;

use carson_proc::Finished;
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::open_calls::{OpenCall, OpenCalls, print_of};
use crate::reader::{Reader, last_words};
use crate::rules::{Facts, RuleFile, failure};
use crate::said::Said;
use crate::session::{Denied, Ended, Event, SessionEnd};
use crate::short_call::{CALL_MAX, short_call};

/// What the stream said so far.
pub(super) struct Output {
    calls: OpenCalls,
    denied: Vec<Denied>,
    facts: Facts,
    turns: u32,
    /// What the messages before the last one used: input and output tokens.
    used: (f64, u64),
    /// The last message, of which each block is an event of its own: its id, and the same of it.
    last: Option<(String, (f64, u64))>,
    result: Option<Value>,
}

impl Output {
    /// Of a session that has said nothing yet.
    pub(super) fn new(rules: &'static RuleFile) -> Self {
        Self {
            facts: Facts::new(rules),
            calls: OpenCalls::default(),
            denied: Vec::new(),
            turns: 0,
            used: (0.0, 0),
            last: None,
            result: None,
        }
    }
}

impl Reader for Output {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        if let Ok(event) = serde_json::from_slice::<Value>(line) {
            self.event(event, on_event);
        }
        ControlFlow::Continue(())
    }

    fn end(
        mut self: Box<Self>,
        done: &Finished,
        redactor: &Redactor,
        now: DateTime<Utc>,
    ) -> SessionEnd {
        let ended = self.ended(done, redactor, now);
        let result = self.result.clone().unwrap_or_default();
        let usage = &result["usage"];
        let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
        SessionEnd {
            ended,
            text: result["result"].as_str().unwrap_or_default().to_owned(),
            turns: number(&result["num_turns"]).unwrap_or(self.turns),
            tokens_in: tokens("input_tokens")
                .saturating_add(tokens("cache_creation_input_tokens"))
                .saturating_add(tokens("cache_read_input_tokens")),
            tokens_out: tokens("output_tokens"),
            cost_usd: result["total_cost_usd"].as_f64(),
            denied: self.denied,
            elapsed: done.elapsed,
            leaked: done.leaked,
            out_of_memory: done.out_of_memory,
            exit: None,
            said: String::new(),
        }
    }
}

impl Output {
    fn event(&mut self, event: Value, on_event: &mut dyn FnMut(&Event)) {
        self.facts.event(&event);
        match event["type"].as_str() {
            Some("system") => self.system(&event, on_event),
            Some("assistant") => self.assistant(&event, on_event),
            Some("user") => {
                self.rejected(&event, on_event);
                self.results(&event, on_event);
            }
            Some("rate_limit_event") => self.rate_limit(&event["rate_limit_info"], on_event),
            Some("result") => self.result = Some(event),
            _ => {}
        }
    }

    fn system(&mut self, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        match event["subtype"].as_str() {
            Some("init") => {
                on_event(&Event::Started {
                    model: event["model"].as_str().map(str::to_owned),
                });
            }
            Some("api_retry") => {
                on_event(&Event::Retrying {
                    status: status(&event["error_status"]),
                });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        self.count(&event["message"], on_event);
        for block in blocks(event) {
            match block["type"].as_str() {
                Some("text") => {
                    on_event(&Event::Text(
                        block["text"].as_str().unwrap_or_default().to_owned(),
                    ));
                }
                Some("tool_use") => {
                    let name = block["name"].as_str().unwrap_or_default().to_owned();
                    let call = short_call(&block["input"]);
                    let id = block["id"].as_str().unwrap_or_default();
                    on_event(&Event::ToolCall {
                        name: name.clone(),
                        call: call.clone(),
                    });
                    let arguments = Some(print_of([&block["input"]]));
                    let open = OpenCall {
                        name,
                        call,
                        arguments,
                    };
                    self.calls.open(id, open);
                }
                _ => {}
            }
        }
    }

    /// Its messages are its turns.
    fn count(&mut self, message: &Value, on_event: &mut dyn FnMut(&Event)) {
        let id = message["id"].as_str().unwrap_or_default();
        let now = tokens(&message["usage"]);
        match &mut self.last {
            Some((last, used)) if last == id && !id.is_empty() => *used = now,
            last => {
                let (_, before) = last.replace((id.to_owned(), now)).unwrap_or_default();
                self.used.0 += before.0;
                self.used.1 += before.1;
                self.turns += 1;
            }
        }
        on_event(&Event::Used {
            turns: self.turns,
            tokens_in: (self.used.0 + now.0) as u64,
            tokens_out: self.used.1 + now.1,
        });
    }

    /// A rejected call comes back as a result with a decision beside it.
    fn rejected(&mut self, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        for meta in event["tool_result_meta"].as_array().into_iter().flatten() {
            let decision = &meta["permission_decision"];
            if decision["decision"] != "reject" {
                continue;
            }
            let id = meta["id"].as_str().unwrap_or_default();
            let open = self.calls.get(id).cloned().unwrap_or_default();
            let denied = Denied {
                tool: open.name,
                reason: reason_of(event, id),
                call: open.call,
                by_hook: decision["source"] == "hook",
            };
            on_event(&Event::ToolDenied(denied.clone()));
            self.denied.push(denied);
        }
    }

    fn results(&mut self, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        for block in blocks(event).filter(|block| block["type"] == "tool_result") {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let result = print_of([&block["content"], &block["is_error"]]);
            if let Some(done) = self.calls.done(id, result) {
                on_event(&done);
            }
        }
    }

    fn rate_limit(&mut self, info: &Value, on_event: &mut dyn FnMut(&Event)) {
        let resets_at = time(&info["resetsAt"]);
        let window = info["rateLimitType"]
            .as_str()
            .unwrap_or("unknown")
            .to_owned();
        let utilization = info["unifiedWindows"][&window]["utilization"].as_f64();
        let utilization = utilization.or_else(|| info["utilization"].as_f64());
        on_event(&Event::LimitWarning {
            window,
            utilization,
            resets_at,
        });
    }

    fn ended(&mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> Ended {
        let result = self.result.as_ref();
        let of = |key: &str| result.and_then(|result| result[key].as_str());
        match (of("terminal_reason"), of("subtype")) {
            (Some("max_turns"), _) | (_, Some("error_max_turns")) => Ended::MaxTurns,
            (Some("budget_exhausted"), _) | (_, Some("error_max_budget_usd")) => Ended::MaxCost,
            _ if result.is_some_and(is_answer) => Ended::Completed,
            _ => self.failed(done, redactor, now),
        }
    }

    /// What the rules know of it. Without a result, what the stream was waiting for then says why,
    /// if anything does.
    fn failed(&mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> Ended {
        if let Some(known) = failure(&mut self.facts, done, redactor, now) {
            return known;
        }
        let Some(result) = &self.result else {
            return Ended::Crashed {
                exit: done.exit,
                message: last_words(done, redactor),
            };
        };
        let message = match result["result"].as_str() {
            Some(text) => text.to_owned(),
            None => result["errors"].to_string(),
        };
        Ended::ApiError {
            status: status(&result["api_error_status"]),
            message: message.chars().take(CALL_MAX).collect(),
        }
    }
}

/// Whether a result is the model's answer: one may call itself a success around a refusal of the API.
fn is_answer(result: &Value) -> bool {
    result["is_error"] != true
        && result["terminal_reason"] != "api_error"
        && result["api_error_status"].is_null()
        && result["api_error_type"].is_null()
        && result["stop_reason"] != "refusal"
}

/// Input and output tokens of a message. The provider's prices: what is written to its cache costs a quarter
/// more than other input, what is read from there a tenth.
fn tokens(usage: &Value) -> (f64, u64) {
    let of = |name: &str| usage[name].as_u64().unwrap_or(0);
    let input = of("input_tokens") as f64
        + 1.25 * of("cache_creation_input_tokens") as f64
        + 0.1 * of("cache_read_input_tokens") as f64;
    (input, of("output_tokens"))
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    event["message"]["content"].as_array().into_iter().flatten()
}

/// What a line says to people.
pub(super) fn says(event: &Value) -> Vec<Said> {
    let is_of_people = matches!(event["type"].as_str(), Some("assistant" | "user"));
    let said = |block: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match block["type"].as_str()? {
            "text" => Some(Said::Text(text(&block["text"]))),
            "tool_use" => Some(Said::Call {
                tool: text(&block["name"]),
                call: short_call(&block["input"]),
            }),
            "tool_result" => {
                let parts = block["content"].as_array().into_iter().flatten();
                let parts: Vec<String> = parts.map(|part| text(&part["text"])).collect();
                let whole = block["content"].as_str().map(str::to_owned);
                Some(Said::Result {
                    text: whole.unwrap_or_else(|| parts.join("\n")),
                    failed: block["is_error"] == true,
                })
            }
            _ => None,
        }
    };
    let blocks = is_of_people.then(|| blocks(event).filter_map(said));
    blocks.into_iter().flatten().collect()
}

fn reason_of(event: &Value, id: &str) -> String {
    let result = blocks(event).find(|block| block["tool_use_id"] == id);
    let text = result
        .map(|block| &block["content"])
        .and_then(Value::as_str)
        .unwrap_or_default();
    text.trim().chars().take(CALL_MAX).collect()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|status| u16::try_from(status).ok())
}

fn time(value: &Value) -> Option<DateTime<Utc>> {
    value
        .as_i64()
        .and_then(|seconds| DateTime::from_timestamp(seconds, 0))
}

#[cfg(test)]
mod tests;
