//! Reads a CLI's JSON lines by its rule file: the final text, tokens and money, tool calls, and what
//! a failure means.
//!
//! Its turns are counted, too, since not every CLI has a ceiling of its own: the steps that it tells of,
//! else its tool calls. Once they are used up it is stopped.

use std::ops::ControlFlow;

use carson_core::repetition::CallPrint;
use carson_proc::{Exit, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::cli::Cli;
use crate::open_calls::{OpenCall, OpenCalls, print_of};
use crate::reader::{Reader, last_words};
use crate::rules::{Calls, Facts, Refused, Rules, failure, holds};
use crate::session::{Denied, Ended, Event, Limit, LimitKind, SessionEnd};
use crate::short_call::{CALL_MAX, short_call};

/// `EX_TEMPFAIL`.
const TRY_LATER: i32 = 75;

/// What the program said so far, where its words are known.
#[derive(Default)]
pub(crate) struct RulesReader {
    facts: Option<Facts>,
    max_turns: u32,
    calls: u32,
    open: OpenCalls,
    denied: Vec<Denied>,
    /// Its ceiling of turns is what stopped it.
    out_of_turns: bool,
    text: Option<String>,
    /// The next piece begins a new text.
    broken: bool,
    steps: u32,
    tokens_in: u64,
    tokens_out: u64,
    cost_usd: Option<f64>,
}

impl Reader for RulesReader {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        let Some(facts) = &mut self.facts else {
            return ControlFlow::Continue(());
        };
        let Ok(event @ Value::Object(_)) = serde_json::from_slice::<Value>(line) else {
            return ControlFlow::Continue(());
        };
        facts.event(&event);
        let rules = facts.file.rules();
        // The last step may have been the end: only one that goes on is stopped.
        let is_over = tells_steps(rules) && self.steps >= self.max_turns;
        if !is_over {
            begun(rules, &event, on_event);
            self.answer(rules, &event, on_event);
            self.usage(rules, &event);
            self.call(rules, &event, on_event);
        }
        self.out_of_turns = is_over || !tells_steps(rules) && self.calls >= self.max_turns;
        match self.out_of_turns {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn aside(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) {
        let Some(facts) = &mut self.facts else { return };
        if facts.aside(&String::from_utf8_lossy(line)) {
            on_event(&Event::Retrying { status: None });
        }
    }

    fn waited(
        &mut self,
        done: &Finished,
        redactor: &Redactor,
        now: DateTime<Utc>,
    ) -> Option<Ended> {
        let facts = self.facts.as_mut().filter(|facts| facts.waits())?;
        failure(facts, done, redactor, now)
    }

    fn end(
        mut self: Box<Self>,
        done: &Finished,
        redactor: &Redactor,
        now: DateTime<Utc>,
    ) -> SessionEnd {
        let (ended, turns) = (self.ended(done, redactor, now), self.turns());
        let speaks = self.facts.is_some();
        SessionEnd {
            ended,
            turns,
            text: self
                .text
                .unwrap_or_else(|| said(&redactor.redact(&done.stdout.text()), speaks)),
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            cost_usd: self.cost_usd,
            denied: self.denied,
            elapsed: done.elapsed,
            leaked: done.leaked,
            out_of_memory: done.out_of_memory,
            exit: None,
            said: String::new(),
        }
    }
}

impl RulesReader {
    /// Of a program that may speak as this CLI does, and has so many turns; else its output as it stands
    /// is its answer.
    pub(crate) fn speaking(spoken: Option<&'static Cli>, max_turns: u32) -> Self {
        Self {
            facts: spoken.map(|cli| Facts::new(&cli.rules)),
            max_turns,
            ..Self::default()
        }
    }

    /// The steps, else a turn for each call and one for the answer.
    fn turns(&self) -> u32 {
        let counted = match self.steps {
            0 => self.calls.saturating_add(1),
            steps => steps,
        };
        counted.min(self.max_turns).max(1)
    }

    fn ended(&mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> Ended {
        if self.out_of_turns {
            return Ended::MaxTurns;
        }
        if done.exit == Exit::Code(0) && !self.is_hollow() {
            return Ended::Completed;
        }
        let known = self.facts.as_mut();
        if let Some(known) = known.and_then(|facts| failure(facts, done, redactor, now)) {
            return known;
        }
        if done.exit == Exit::Code(0) {
            return Ended::Completed;
        }
        let message = last_words(done, redactor);
        match done.exit {
            Exit::Code(TRY_LATER) => Ended::Limited(Limit {
                kind: LimitKind::RateLimit,
                resets_at: None,
                remedy: None,
                window: None,
                message,
            }),
            exit => Ended::Crashed { exit, message },
        }
    }

    /// Whether an answer should be there, and none is: then the exit alone is no success.
    fn is_hollow(&self) -> bool {
        let facts = self.facts.as_ref();
        let answers = facts.is_some_and(|facts| facts.file.rules().answer.is_some());
        answers && self.text.is_none()
    }

    fn answer(&mut self, rules: &Rules, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        let Some(answer) = &rules.answer else { return };
        if answer.breaks.is_some() && event["type"].as_str() == answer.breaks.as_deref() {
            self.broken = true;
        }
        if !holds(&answer.when, event) {
            return;
        }
        let piece = event.pointer(&answer.text).and_then(Value::as_str);
        let piece = piece.unwrap_or_default();
        on_event(&Event::Text(piece.to_owned()));
        match &mut self.text {
            Some(text) if answer.join && !self.broken => text.push_str(piece),
            text => *text = Some(piece.to_owned()),
        }
        self.broken = false;
    }

    fn usage(&mut self, rules: &Rules, event: &Value) {
        let Some(usage) = rules.usage.as_ref().filter(|u| holds(&u.when, event)) else {
            return;
        };
        let sum = |pointers: &[String]| {
            let counts = pointers.iter().filter_map(|at| event.pointer(at)?.as_u64());
            counts.fold(0_u64, u64::saturating_add)
        };
        self.tokens_in = self.tokens_in.saturating_add(sum(&usage.tokens_in));
        self.tokens_out = self.tokens_out.saturating_add(sum(&usage.tokens_out));
        self.steps = self.steps.saturating_add(u32::from(usage.step));
        let cost = usage.cost.as_deref().and_then(|at| event.pointer(at));
        if let Some(cost) = cost.and_then(Value::as_f64).filter(|cost| *cost >= 0.0) {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    fn call(&mut self, rules: &Rules, event: &Value, on_event: &mut dyn FnMut(&Event)) {
        let Some(calls) = &rules.calls else { return };
        let name = named(calls, event);
        if let Some(name) = name {
            self.calls = self.calls.saturating_add(1);
            on_event(&Event::ToolCall {
                name: name.to_owned(),
                call: shown(calls, event),
            });
        }
        if let Some(refused) = calls.denied.as_ref() {
            self.refused(calls, refused, event, on_event);
        }
        if let Some(name) = name {
            self.called(calls, name, event, on_event);
        }
        let done = calls.done.as_ref().filter(|done| holds(&done.when, event));
        let done = done.and_then(|done| {
            let id = event.pointer(&done.id)?.as_str()?;
            self.open.done(id, print_at(event, &done.result)?)
        });
        if let Some(done) = done {
            on_event(&done);
        }
    }

    /// A call that was stopped: this event has it, or its id.
    fn refused(
        &mut self,
        calls: &Calls,
        refused: &Refused,
        event: &Value,
        on_event: &mut dyn FnMut(&Event),
    ) {
        let reason = event.pointer(&refused.reason).and_then(Value::as_str);
        let Some(reason) = reason.filter(|_| holds(&refused.when, event)) else {
            return;
        };
        let mut begins = refused.begins.iter();
        if !refused.begins.is_empty() && !begins.any(|begin| reason.starts_with(begin.as_str())) {
            return;
        }
        let id = calls.done.as_ref().and_then(|done| event.pointer(&done.id));
        let open = id.and_then(|id| self.open.get(id.as_str()?)).cloned();
        let open = open.unwrap_or_else(|| OpenCall {
            name: named(calls, event).unwrap_or_default().to_owned(),
            call: shown(calls, event),
            arguments: None,
        });
        let by_hook = refused.by_hook.as_deref();
        let denied = Denied {
            tool: open.name,
            reason: reason.trim().chars().take(CALL_MAX).collect(),
            call: open.call,
            by_hook: by_hook.is_some_and(|begin| reason.starts_with(begin)),
        };
        on_event(&Event::ToolDenied(denied.clone()));
        self.denied.push(denied);
    }

    /// Its result is in the same event, or comes by its id.
    fn called(
        &mut self,
        calls: &Calls,
        name: &str,
        event: &Value,
        on_event: &mut dyn FnMut(&Event),
    ) {
        let arguments = print_at(event, &calls.arguments);
        let name = name.to_owned();
        if let Some(id) = &calls.id {
            let id = event.pointer(id).and_then(Value::as_str);
            let open = OpenCall {
                name,
                call: shown(calls, event),
                arguments,
            };
            self.open.open(id.unwrap_or_default(), open);
            return;
        }
        let result = print_at(event, &calls.result);
        let both = arguments.zip(result);
        let call = both.map(|(arguments, result)| CallPrint { arguments, result });
        on_event(&Event::ToolDone { name, call });
    }
}

/// Its output as it stands. Of a program whose events are known these are no words of it: one that was stopped
/// before it said anything has said nothing.
fn said(output: &str, speaks: bool) -> String {
    let is_event = |line: &&str| speaks && line.trim_start().starts_with("{\"");
    let lines: Vec<&str> = output.lines().filter(|line| !is_event(line)).collect();
    match lines.len() == output.lines().count() {
        true => output.to_owned(),
        false => lines.join("\n"),
    }
}

/// It says that it began, and with which model.
fn begun(rules: &Rules, event: &Value, on_event: &mut dyn FnMut(&Event)) {
    let started = rules.started.as_ref();
    if let Some(started) = started.filter(|started| holds(&started.when, event)) {
        let model = event.pointer(&started.model).and_then(Value::as_str);
        let model = model.map(str::to_owned);
        on_event(&Event::Started { model });
    }
}

/// A call in short.
fn shown(calls: &Calls, event: &Value) -> String {
    let mut given = calls.arguments.iter().filter_map(|at| event.pointer(at));
    given.next().map(short_call).unwrap_or_default()
}

/// The tool of a call, where the event is one.
fn named<'v>(calls: &Calls, event: &'v Value) -> Option<&'v str> {
    let name = event.pointer(&calls.name)?.as_str()?;
    let is_one = calls.names.is_empty() || calls.names.iter().any(|known| known == name);
    (is_one && holds(&calls.when, event)).then_some(name)
}

/// Whether each of its turns is told as a step.
fn tells_steps(rules: &Rules) -> bool {
    rules.usage.as_ref().is_some_and(|usage| usage.step)
}

/// One number for what is at these places; `None` where nothing is.
fn print_at(event: &Value, pointers: &[String]) -> Option<u64> {
    let found = pointers.iter().map(|at| event.pointer(at));
    if found.clone().all(|value| value.is_none()) {
        return None;
    }
    Some(print_of(found.map(|value| value.unwrap_or(&Value::Null))))
}

#[cfg(test)]
mod tests;
