//! Ended firings, told to a collector as traces: OTLP 1.x over HTTP, in its JSON form
//! (<https://opentelemetry.io/docs/specs/otlp/>).
//!
//! A firing is a trace whose id is the firing's, and each of its stages is a span below the firing's own. They are made of
//! rows once the firing has ended. What was told is remembered while the daemon runs; a new one begins an hour before
//! its start, and a collector knows a span that it has by its id. Nothing that a session or a person wrote is told.

use std::time::Duration;

use carson_core::{FiringId, Outcome};
use carson_home::Home;
use carson_store::{Firing, StageRow};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::error_chain;
use super::runner::{Done, Report};

/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Firings of one request, and requests of one run.
const BATCH: u32 = 100;
const BATCHES: usize = 20;
/// How long before its start a daemon begins.
const BEFORE: TimeDelta = TimeDelta::hours(1);
/// `SPAN_KIND_INTERNAL`, `STATUS_CODE_OK` and `STATUS_CODE_ERROR`.
const INTERNAL: u8 = 1;
const FINE: u8 = 1;
const WRONG: u8 = 2;

/// The last firing that was told.
pub(super) type Mark = (DateTime<Utc>, FiringId);

/// Tells what ended since.
pub(super) async fn tell(home: &Home, told: &mut Option<Mark>) -> Done {
    let mark = told.get_or_insert((home.clock.now() - BEFORE, Uuid::nil().into()));
    let Some(address) = &home.fleet.traces_to else {
        *told = None;
        return Ok(Report::nothing("no address is set"));
    };
    let mut count = 0;
    for _ in 0..BATCHES {
        let ended = home.store.ended_after(*mark, BATCH).await;
        let ended = ended.map_err(error_chain)?;
        let Some((at, id)) = ended.last().and_then(|row| Some((row.ended_at?, row.id))) else {
            break;
        };
        let mut spans = Vec::new();
        for firing in &ended {
            let stages = home.store.stages(firing.id).await.map_err(error_chain)?;
            spans.extend(spans_of(firing, &stages));
        }
        send(address, &request(home.fleet.host.as_str(), &spans)).await?;
        *mark = (at, id);
        count += ended.len();
    }
    Ok(Report::counted(count, "firing told", "firings told"))
}

async fn send(address: &str, body: &Value) -> Result<(), String> {
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(error_chain)?;
    let answer = client.post(address).json(body).send().await;
    let status = answer.map_err(error_chain)?.status();
    if status.is_success() {
        return Ok(());
    }
    Err(format!(
        "the collector at {address} answered {status}: metrics.traces_to names it"
    ))
}

fn request(host: &str, spans: &[Value]) -> Value {
    let resource = [
        attribute("service.name", "carson"),
        attribute("service.version", env!("CARGO_PKG_VERSION")),
        attribute("host.name", host),
    ];
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": {"name": "carson"}, "spans": spans}],
    }]})
}

/// The firing, and its stages below it.
fn spans_of(firing: &Firing, stages: &[StageRow]) -> Vec<Value> {
    let (trace, root) = (firing.id.uuid().simple().to_string(), span_id(firing.id, 0));
    let ended = firing.ended_at.unwrap_or(firing.claimed_at);
    let status = match firing.outcome {
        Some(Outcome::Ok | Outcome::Silent | Outcome::AlreadyDone | Outcome::Partial) => FINE,
        _ => WRONG,
    };
    let span = |id: &str, name: &str, (from, until): (DateTime<Utc>, DateTime<Utc>)| {
        json!({
            "traceId": trace, "spanId": id, "name": name, "kind": INTERNAL,
            "startTimeUnixNano": nanos(from), "endTimeUnixNano": nanos(until.max(from)),
        })
    };
    let mut all = Vec::with_capacity(stages.len() + 1);
    let mut own = span(&root, "firing", (firing.claimed_at, ended));
    own["attributes"] = Value::Array(attributes(firing));
    own["status"] = json!({"code": status});
    all.push(own);
    for (n, stage) in stages.iter().enumerate() {
        let until = stage.ended_at.unwrap_or(ended);
        let id = span_id(firing.id, n + 1);
        let mut below = span(&id, stage.name.as_str(), (stage.started_at, until));
        below["parentSpanId"] = json!(root);
        all.push(below);
    }
    all
}

/// Eight bytes of the firing's random part, counted on: never all zero, which would be no span.
fn span_id(firing: FiringId, n: usize) -> String {
    let (_, random) = firing.uuid().as_u64_pair();
    let n = u64::try_from(n).unwrap_or(u64::MAX);
    format!("{:016x}", random.wrapping_add(n).max(1))
}

/// Nanoseconds since 1970, as text: the form that JSON has for numbers of 64 bits there.
fn nanos(at: DateTime<Utc>) -> String {
    at.timestamp_nanos_opt().unwrap_or_default().to_string()
}

fn attributes(firing: &Firing) -> Vec<Value> {
    let mut all = vec![
        attribute("carson.role", firing.role.as_str()),
        attribute("carson.host", firing.host.as_str()),
        number("carson.turns", u64::from(firing.turns)),
        number("carson.attempts", u64::from(firing.attempts)),
        number("gen_ai.usage.input_tokens", firing.tokens_in),
        number("gen_ai.usage.output_tokens", firing.tokens_out),
    ];
    let words = [
        (
            "carson.outcome",
            firing.outcome.map(|one| one.as_str().to_owned()),
        ),
        ("carson.repo", firing.repo.as_ref().map(ToString::to_string)),
        ("carson.work", firing.work.as_ref().map(ToString::to_string)),
        (
            "carson.account",
            firing.account.as_ref().map(ToString::to_string),
        ),
        ("carson.engine", firing.engine.clone()),
    ];
    let words = words
        .iter()
        .filter_map(|(name, word)| Some((name, word.as_ref()?)));
    all.extend(words.map(|(name, word)| attribute(name, word)));
    all.extend(
        firing
            .pr_number
            .map(|pull| number("carson.pull_request", pull)),
    );
    let cost = firing.cost_usd.filter(|usd| usd.is_finite());
    all.extend(cost.map(|usd| json!({"key": "carson.cost_usd", "value": {"doubleValue": usd}})));
    all
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

#[cfg(test)]
mod tests;
