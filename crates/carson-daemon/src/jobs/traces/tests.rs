//! A collector of the test's own.

use std::path::Path;

use carson_core::work::WorkKey;
use carson_core::{Clock, Stage};
use carson_home::testing;
use carson_store::{Ending, NewFiring};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;

async fn home(dir: &Path, collector: &MockServer) -> Home {
    let settings = format!(
        "[fleet]\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n\
         [metrics]\ntraces_to = \"{}/v1/traces\"\n",
        collector.uri()
    );
    std::fs::write(dir.join("carson.toml"), settings).unwrap();
    testing::open(
        dir,
        Clock::manual(DateTime::from_timestamp(1_790_000_000, 0).unwrap()),
    )
    .await
    .unwrap()
}

/// A firing that ended now, two minutes after it was claimed.
async fn ended(home: &Home, outcome: Outcome) -> FiringId {
    let (id, now) = (FiringId::new(), home.clock.now());
    let new = NewFiring {
        id,
        role: "hand".parse().unwrap(),
        slot: None,
        host: "box".parse().unwrap(),
        account: Some("claude".parse().unwrap()),
        deadline_at: now + TimeDelta::hours(1),
        claimed_at: now - TimeDelta::minutes(2),
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    home.store.claim_firing(&new).await.unwrap();
    let repo = "widget".parse().unwrap();
    let work = WorkKey::Issue(7);
    home.store
        .as_firing(id, carson_store::Epoch::FIRST)
        .take_work(&repo, work, "a secret title")
        .await
        .unwrap();
    for (stage, ago) in [(Stage::Plan, 90), (Stage::Execute, 60)] {
        let at = now - TimeDelta::seconds(ago);
        home.store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_stage(stage, at)
            .await
            .unwrap();
    }
    let ending = Ending {
        outcome,
        reason: "a secret reason".to_owned(),
        skip: None,
        at: now,
        thresholds: None,
        posts: Vec::new(),
    };
    assert!(
        home.store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap()
    );
    id
}

/// Nanoseconds between the two ends of a span.
fn lasted(span: &Value) -> u64 {
    let at = |end: &str| -> u64 { span[end].as_str().unwrap().parse().unwrap() };
    at("endTimeUnixNano") - at("startTimeUnixNano")
}

async fn answers(collector: &MockServer, status: u16) {
    collector.reset().await;
    let mock = Mock::given(method("POST")).and(path("/v1/traces"));
    let answer = ResponseTemplate::new(status);
    mock.respond_with(answer).mount(collector).await;
}

/// The spans that arrived.
async fn arrived(collector: &MockServer) -> Vec<Value> {
    let mut spans = Vec::new();
    for request in collector.received_requests().await.unwrap() {
        let text = String::from_utf8(request.body.clone()).unwrap();
        assert!(!text.contains("secret"), "{text}");
        let body: Value = serde_json::from_str(&text).unwrap();
        let of = &body["resourceSpans"][0];
        assert_eq!(
            of["resource"]["attributes"][0]["value"]["stringValue"],
            "carson"
        );
        spans.extend(of["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    }
    spans
}

#[tokio::test]
async fn a_firing_is_a_trace_and_its_stages_are_spans_below_it() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (dir, collector) = (tempfile::tempdir().unwrap(), MockServer::start().await);
    answers(&collector, 200).await;
    let home = home(dir.path(), &collector).await;
    let id = ended(&home, Outcome::Failed).await;
    let mut told = None;
    assert_eq!(tell(&home, &mut told).await.unwrap().did, 1);
    let spans = arrived(&collector).await;
    let names: Vec<&Value> = spans.iter().map(|span| &span["name"]).collect();
    assert_eq!(names, ["firing", "plan", "execute"]);
    let root = &spans[0];
    assert_eq!(root["traceId"], id.uuid().simple().to_string());
    assert_eq!(lasted(root), 120_000_000_000);
    assert_eq!(root["status"]["code"], WRONG);
    assert_eq!(root["spanId"].as_str().unwrap().len(), 16);
    assert!(root["parentSpanId"].is_null());
    let role = json!({"key": "carson.role", "value": {"stringValue": "hand"}});
    assert!(
        root["attributes"].as_array().unwrap().contains(&role),
        "{root:#}"
    );
    for (span, seconds) in [(&spans[1], 30), (&spans[2], 60)] {
        assert_eq!(span["traceId"], root["traceId"]);
        assert_eq!(span["parentSpanId"], root["spanId"]);
        assert_eq!(lasted(span), seconds * 1_000_000_000, "{span:#}");
    }
    assert_eq!(
        tell(&home, &mut told).await.unwrap().did,
        0,
        "it is told once"
    );
}

#[tokio::test]
async fn a_collector_that_is_away_loses_nothing_and_many_ends_at_one_instant_are_all_told() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (dir, collector) = (tempfile::tempdir().unwrap(), MockServer::start().await);
    answers(&collector, 503).await;
    let home = home(dir.path(), &collector).await;
    let mut told = None;
    let mut ids = Vec::new();
    for _ in 0..=2 * BATCH {
        ids.push(ended(&home, Outcome::Ok).await);
    }
    let error = tell(&home, &mut told).await.unwrap_err();
    assert!(
        error.contains("503") && error.contains("metrics.traces_to"),
        "{error}"
    );
    answers(&collector, 200).await;
    assert_eq!(tell(&home, &mut told).await.unwrap().did, ids.len());
    let spans = arrived(&collector).await;
    let roots = spans.iter().filter(|span| span["name"] == "firing");
    let mut traces: Vec<&str> = roots
        .map(|span| span["traceId"].as_str().unwrap())
        .collect();
    traces.sort_unstable();
    let mut wanted: Vec<String> = ids
        .iter()
        .map(|id| id.uuid().simple().to_string())
        .collect();
    wanted.sort();
    assert_eq!(traces, wanted);
}
