//! Facts become a verdict.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use serde_json::Value;

use super::class::Class;
use super::facts::Facts;
use super::file::{Evidence, Rule, Rules};
use super::reset;

/// Messages are cut to this many characters.
const MESSAGE_MAX: usize = 300;

/// What the evidence says.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What kind of refusal.
    pub class: Class,
    /// When it ends, where the provider says so and it is still to come.
    pub resets_at: Option<DateTime<Utc>>,
    /// What the provider named, when that was too far to believe.
    pub capped_from: Option<DateTime<Utc>>,
    /// The usage window, where it was one.
    pub window: Option<String>,
    /// How much of it is used, from 0 to 1.
    pub utilization: Option<f64>,
    /// What the CLI said.
    pub message: String,
    /// HTTP status, where one is known.
    pub status: Option<u16>,
    /// Id of the rule that decided; empty when none did.
    pub rule: &'static str,
    /// Where that rule comes from, and its date; empty when none did.
    pub source: String,
}

/// What is read from one piece of evidence.
struct Reading<'a> {
    kind: &'a str,
    event: Option<&'a Value>,
    evidence: Option<&'a Evidence>,
    message: String,
    /// Code and message as rules see them: one case, one kind of quotes, single spaces.
    plain: String,
    status: Option<u16>,
}

/// Says what made a session fail. Pure: `now` is the clock, and `local` tells when a wall-clock time
/// of the zone that the CLI prints in is.
#[must_use]
pub fn classify(
    facts: &Facts,
    now: DateTime<Utc>,
    local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> Verdict {
    let rules = facts.file.rules();
    let readings = readings(facts, rules);
    for reading in &readings {
        let found = rules
            .rules
            .iter()
            .find(|rule| holds(rule, reading, facts.exit));
        if let Some(rule) = found {
            let mut verdict = verdict(rules, rule, reading, now, local);
            // What decides is often a mere name; people read the sentence that came with it.
            let said = readings.iter().map(|reading| &reading.message);
            if let Some(longest) = said.max_by_key(|message| message.len()) {
                verdict.message.clone_from(longest);
            }
            return verdict;
        }
    }
    let first = readings.into_iter().next();
    let status = first.as_ref().and_then(|reading| reading.status);
    Verdict {
        class: Class::Fatal,
        resets_at: None,
        capped_from: None,
        window: None,
        utilization: None,
        message: first.map(|reading| reading.message).unwrap_or_default(),
        status,
        rule: "",
        source: String::new(),
    }
}

fn readings<'a>(facts: &'a Facts, rules: &'static Rules) -> Vec<Reading<'a>> {
    let of_note = |(place, event): (&usize, &'a Value)| {
        let evidence = rules.evidence.get(*place)?;
        Some(read(evidence, event))
    };
    let mut readings: Vec<Reading<'a>> = facts.notes.iter().filter_map(of_note).collect();
    if let Some(waiting) = facts.waiting.as_deref().filter(|_| readings.is_empty()) {
        readings.push(aside("waiting", waiting));
    }
    if readings.is_empty() && !facts.spoke {
        let lines: Vec<&str> = facts
            .stderr
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(rules.stderr_lines);
        readings.push(aside("stderr", &lines[from..].join(" ")));
    }
    readings
}

/// What is read of standard error.
fn aside<'a>(kind: &'static str, message: &str) -> Reading<'a> {
    Reading {
        kind,
        event: None,
        evidence: None,
        plain: plain(message),
        message: cut(message),
        status: None,
    }
}

fn read<'a>(evidence: &'a Evidence, event: &'a Value) -> Reading<'a> {
    let text = |pointer: &str| match event.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let message = text(&evidence.message);
    let code = evidence.code.as_deref().map(text).unwrap_or_default();
    let status = evidence
        .status
        .as_deref()
        .and_then(|pointer| event.pointer(pointer));
    Reading {
        kind: &evidence.name,
        event: Some(event),
        evidence: Some(evidence),
        plain: plain(&format!("{code} {message}")),
        message: cut(&message),
        status: status
            .and_then(Value::as_u64)
            .and_then(|status| u16::try_from(status).ok()),
    }
}

fn holds(rule: &Rule, reading: &Reading<'_>, exit: Option<i32>) -> bool {
    (rule.on.is_empty() || rule.on.iter().any(|kind| kind == reading.kind))
        && (rule.status.is_empty()
            || reading
                .status
                .is_some_and(|status| rule.status.contains(&status)))
        && (rule.exit.is_empty() || exit.is_some_and(|exit| rule.exit.contains(&exit)))
        && (rule.text.is_empty() || rule.text.iter().any(|text| matches(text, &reading.plain)))
}

/// Whether `text` has the pieces of `pattern` between its `*`, in their order.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

fn verdict(
    rules: &Rules,
    rule: &'static Rule,
    reading: &Reading<'_>,
    now: DateTime<Utc>,
    local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> Verdict {
    let at = |pointer: &str| reading.event.and_then(|event| event.pointer(pointer));
    let named = rule
        .window
        .as_deref()
        .and_then(at)
        .and_then(Value::as_str)
        .map(cut);
    let window = named.or_else(|| rule.window_name.clone());
    let utilization = rule.utilization.as_deref().and_then(|pointer| {
        let pointer = pointer.replace("{window}", window.as_deref().unwrap_or_default());
        at(&pointer).and_then(Value::as_f64)
    });
    let claimed = match rule.class {
        Class::Limit | Class::Outage => resets_at(reading, now, local),
        _ => None,
    };
    let horizon = now + TimeDelta::days(rules.horizon_days.into());
    Verdict {
        class: rule.class,
        resets_at: claimed.map(|at| at.min(horizon)),
        capped_from: claimed.filter(|at| *at > horizon),
        window,
        utilization,
        message: reading.message.clone(),
        status: reading.status,
        rule: &rule.id,
        source: format!("{} ({})", rule.source, rule.seen),
    }
}

fn resets_at(
    reading: &Reading<'_>,
    now: DateTime<Utc>,
    local: &dyn Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let at = |pointer: Option<&String>| {
        reading
            .event
            .zip(pointer)
            .and_then(|(event, at)| event.pointer(at))
    };
    let evidence = reading.evidence;
    let epoch = at(evidence.and_then(|evidence| evidence.epoch.as_ref())).and_then(reset::epoch);
    let header = at(evidence.and_then(|evidence| evidence.retry_after.as_ref()));
    let header = header.and_then(|value| reset::retry_after(value, now));
    epoch
        .or(header)
        .or_else(|| reset::text(&reading.plain, now, local))
        .filter(|at| *at > now)
}

fn cut(text: &str) -> String {
    text.chars().take(MESSAGE_MAX).collect()
}

/// One case, straight quotes, single spaces, and not too long.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split_whitespace().take(2_000) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.extend(word.chars().take(500).flat_map(straight));
    }
    plain
}

fn straight(letter: char) -> impl Iterator<Item = char> {
    let letter = match letter {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2010}'..='\u{2015}' => '-',
        other => other,
    };
    letter.to_lowercase()
}
