//! Any program: the prompt on standard input, the answer on standard output.
//!
//! Exit 0 is an end with a text; exit 75 (`EX_TEMPFAIL` of sysexits.h) is a limit without a known
//! end; anything else is a crash. Such a program has no hook of its own.
//!
//! Where the account says whose words the program speaks (`limits = "codex"`), its JSON lines are
//! read too: the final text, the tokens, and what a failure means by that CLI's rules.

use std::ops::ControlFlow;

use carson_proc::{Command, Exit, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::engine::{Engine, Reader, last_words};
use crate::error::EngineError;
use crate::rules::{Facts, RuleSet, Rules, failure, holds};
use crate::session::{Ended, Event, Limit, LimitKind, Session, SessionEnd};

/// `EX_TEMPFAIL`.
const TRY_LATER: i32 = 75;

pub(crate) fn command(engine: &Engine, session: &Session<'_>) -> Result<Command, EngineError> {
    Ok(Command::new(&engine.program, session.cwd)
        .args(engine.args.iter().cloned())
        .exact_env(session.env.clone())
        .env("CARSON_STAGE", session.stage.as_str())
        .env("CARSON_MAX_TURNS", session.max_turns.to_string())
        .stdin_bytes(session.prompt))
}

/// What the program said so far, where its words are known.
#[derive(Default)]
pub(crate) struct Output {
    facts: Option<Facts>,
    text: Option<String>,
    /// The next piece begins a new text.
    broken: bool,
    turns: u32,
    tokens_in: u64,
    tokens_out: u64,
    cost_usd: Option<f64>,
}

impl Reader for Output {
    fn line(&mut self, line: &[u8], on_event: &mut dyn FnMut(&Event)) -> ControlFlow<()> {
        let Some(facts) = &mut self.facts else {
            return ControlFlow::Continue(());
        };
        if let Ok(event @ Value::Object(_)) = serde_json::from_slice::<Value>(line) {
            facts.event(&event);
            let rules = facts.set.rules();
            self.answer(rules, &event, on_event);
            self.usage(rules, &event);
            call(rules, &event, on_event);
        }
        ControlFlow::Continue(())
    }

    fn end(mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> SessionEnd {
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

impl Output {
    pub(crate) fn new(words: Option<RuleSet>) -> Self {
        Self {
            facts: words.map(Facts::new),
            ..Self::default()
        }
    }

    fn ended(&mut self, done: &Finished, redactor: &Redactor, now: DateTime<Utc>) -> Ended {
        if done.exit == Exit::Code(0) {
            return Ended::Completed;
        }
        let known = self.facts.as_mut();
        if let Some(known) = known.and_then(|facts| failure(facts, done, redactor, now)) {
            return known;
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
