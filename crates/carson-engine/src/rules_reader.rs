//! Reads a CLI's JSON lines by its rule file: the final text, tokens and money, tool calls, and what
//! a failure means.

use std::ops::ControlFlow;

use carson_proc::{Exit, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::cli::Cli;
use crate::reader::{Reader, last_words};
use crate::rules::{Facts, Rules, failure, holds};
use crate::session::{Ended, Event, Limit, LimitKind, SessionEnd};

/// `EX_TEMPFAIL`.
const TRY_LATER: i32 = 75;

/// What the program said so far, where its words are known.
#[derive(Default)]
pub(crate) struct RulesReader {
    facts: Option<Facts>,
    text: Option<String>,
    /// The next piece begins a new text.
    broken: bool,
    turns: u32,
    tokens_in: u64,
    tokens_out: u64,
    cost_usd: Option<f64>,
}

impl Reader for RulesReader {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        let Some(facts) = &mut self.facts else {
            return ControlFlow::Continue(());
        };
        if let Ok(event @ Value::Object(_)) = serde_json::from_slice::<Value>(line) {
            facts.event(&event);
            let rules = facts.file.rules();
            self.answer(rules, &event, on_event);
            self.usage(rules, &event);
            call(rules, &event, on_event);
        }
        ControlFlow::Continue(())
    }

    fn end(
        mut self: Box<Self>,
        done: &Finished,
        redactor: &Redactor,
        now: DateTime<Utc>,
    ) -> SessionEnd {
        SessionEnd {
            ended: self.ended(done, redactor, now),
            text: self
                .text
                .unwrap_or_else(|| redactor.redact(&done.stdout.text()).into_owned()),
            turns: self.turns.max(1),
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            cost_usd: self.cost_usd,
            denied: Vec::new(),
            elapsed: done.elapsed,
            leaked: done.leaked,
            exit: None,
            said: String::new(),
        }
    }
}

impl RulesReader {
    /// Of a program that may speak as this CLI does; else its output as it stands is its answer.
    pub(crate) fn speaking(spoken: Option<&'static Cli>) -> Self {
        Self {
            facts: spoken.map(|cli| Facts::new(&cli.rules)),
            ..Self::default()
        }
    }

    fn ended(&mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> Ended {
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
        self.turns = self.turns.saturating_add(u32::from(usage.step));
        let cost = usage.cost.as_deref().and_then(|at| event.pointer(at));
        if let Some(cost) = cost.and_then(Value::as_f64).filter(|cost| *cost >= 0.0) {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }
}

fn call(rules: &Rules, event: &Value, on_event: &mut dyn FnMut(&Event)) {
    let Some(calls) = rules.calls.as_ref().filter(|c| holds(&c.when, event)) else {
        return;
    };
    let name = event.pointer(&calls.name).and_then(Value::as_str);
    let Some(name) =
        name.filter(|name| calls.names.is_empty() || calls.names.iter().any(|n| n == name))
    else {
        return;
    };
    on_event(&Event::ToolCall {
        name: name.to_owned(),
        call: String::new(),
    });
}
