//! What is exposed, held against the grammar, the documents and the dashboard.

mod grammar;

use std::collections::BTreeSet;
use std::path::Path;

use carson_core::{FiringId, Outcome, RoleName};
use carson_home::Home;
use carson_store::{Claim, Ending, NewFiring, Progress, Used};
use chrono::{DateTime, TimeDelta};

use super::*;
use crate::tests::home_with;
use grammar::Scrape;

const WIDGET: &str = "[repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";

/// A firing of some role that ended so, a minute ago, after ten seconds.
async fn ended(home: &Home, role: &str, outcome: Outcome) {
    let now = home.clock.now();
    let began = now - TimeDelta::minutes(1);
    let role: RoleName = role.parse().unwrap();
    let new = NewFiring {
        id: FiringId::new(),
        role,
        slot: Some(began),
        host: home.fleet.host.clone(),
        account: Some("claude".parse().unwrap()),
        deadline_at: now,
        claimed_at: began,
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    let store = &home.store;
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .start_firing((7, 1), None, began)
        .await
        .unwrap();
    let used = |account: &str, cost_usd| Used {
        sessions: 1,
        turns: 3,
        tokens: 1_000,
        cost_usd,
        untold: u32::from(cost_usd.is_none()),
        ..Used::with(account.parse().unwrap())
    };
    let so_far = Progress {
        sessions: 2,
        used: vec![used("claude", Some(0.25)), used("gone", None)],
        ..Progress::default()
    };
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    let ending = Ending {
        outcome,
        reason: "x".into(),
        skip: None,
        at: began + TimeDelta::seconds(10),
        thresholds: None,
        posts: Vec::new(),
    };
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .end_firing(&ending)
        .await
        .unwrap();
}

async fn scrape(home: &Home) -> Scrape {
    let seen = Metrics { since: None }.answer(home).await.unwrap();
    Scrape::read(&seen.text())
}

#[tokio::test]
async fn the_text_is_an_exposition_of_what_the_rows_say() {
    let (_dir, home) = home_with(WIDGET, &[("hand", "carson:ready")]).await;
    ended(&home, "hand", Outcome::Ok).await;
    ended(&home, "hand", Outcome::Failed).await;
    // A role that is not in the settings, as after it was removed.
    ended(&home, "gone", Outcome::Ok).await;
    let title = "\"} 1\ncarson_daemon_up 1".to_owned();
    let issue = crate::issues::Create {
        title,
        body: String::new(),
        labels: Vec::new(),
        repo: None,
    };
    issue.answer(&home).await.unwrap();
    let seen = scrape(&home).await;

    let firings = |role: &str, outcome: &str| {
        seen.value(
            "carson_firings_total",
            &[("outcome", outcome), ("role", role)],
        )
    };
    assert_eq!(firings("hand", "OK"), Some(1.0));
    assert_eq!(firings("hand", "FAILED"), Some(1.0));
    assert_eq!(firings("hand", "CRASHED"), Some(0.0));
    assert_eq!(firings("other", "OK"), Some(1.0));
    let cost = |role: &str, account: &str| {
        let labels = [("account", account), ("role", role)];
        seen.value("carson_cost_usd_total", &labels)
    };
    assert_eq!(cost("hand", "claude"), Some(0.5));
    assert_eq!(cost("hand", "other"), Some(0.0));
    let untold = [("account", "other"), ("role", "hand")];
    let untold = seen.value("carson_sessions_without_cost_total", &untold);
    assert_eq!(untold, Some(2.0));
    let took = |suffix: &str, role: &str| {
        let name = format!("carson_firing_duration_seconds_{suffix}");
        seen.value(&name, &[("role", role)])
    };
    assert_eq!(took("count", "hand"), Some(2.0));
    assert!((took("sum", "hand").unwrap() - 20.0).abs() < 0.01);
    assert_eq!(seen.value("carson_daemon_up", &[]), Some(0.0));
    assert_eq!(
        seen.value("carson_queue_depth", &[("role", "hand")]),
        Some(1.0)
    );
    assert!(seen.value("carson_db_bytes", &[]) > Some(4_096.0));
    assert!(!seen.text.contains("gone"), "{}", seen.text);
}

#[tokio::test]
async fn a_label_is_one_of_the_list_and_a_name_one_of_the_settings() {
    let (_dir, home) = home_with(WIDGET, &[("hand", "carson:ready")]).await;
    ended(&home, "gone", Outcome::Ok).await;
    let answer = Metrics { since: None }.answer(&home).await.unwrap();
    for (family, metric) in answer.metrics.iter().zip(METRICS) {
        for sample in &family.samples {
            let labels: BTreeSet<&str> = sample.labels.keys().copied().collect();
            let mut known: BTreeSet<&str> = metric.labels.iter().copied().collect();
            if sample.suffix == "_bucket" {
                known.insert("le");
            }
            assert_eq!(labels, known, "{}", metric.name);
            for (label, names) in [
                ("role", ["hand", "other"]),
                ("account", ["claude", "other"]),
            ] {
                let name = sample.labels.get(label).map(String::as_str);
                assert!(name.is_none_or(|name| names.contains(&name)), "{sample:?}");
            }
        }
    }
}

#[tokio::test]
async fn counters_only_grow() {
    let (_dir, home) = home_with(WIDGET, &[("hand", "carson:ready")]).await;
    ended(&home, "hand", Outcome::Ok).await;
    let before = scrape(&home).await;
    ended(&home, "hand", Outcome::Ok).await;
    let after = scrape(&home).await;
    let mut grown = 0;
    for (series, value) in &before.counters() {
        let now = after.series[series];
        assert!(now >= *value, "{series:?}: {value} became {now}");
        grown += usize::from(now > *value);
    }
    assert!(grown >= 6, "{grown}");
    let never = Metrics {
        since: Some("1h".into()),
    };
    let lately = never.answer(&home).await.unwrap();
    let lately = Scrape::read(&lately.text());
    assert_eq!(lately.counters(), after.counters());
}

#[test]
fn what_stands_in_quotes_or_ends_a_line_is_escaped() {
    let sample = Sample {
        suffix: "",
        labels: [("role", "a\"b\\c\nd".to_owned())].into(),
        value: 0.5,
    };
    let family = Family {
        name: "carson_x",
        kind: Kind::Gauge,
        help: "One \\ line.",
        samples: vec![sample],
    };
    let answer = Exposition {
        now: DateTime::UNIX_EPOCH,
        since: None,
        metrics: vec![family],
    };
    let text = answer.text();
    assert_eq!(
        text,
        "# HELP carson_x One \\\\ line.\n# TYPE carson_x gauge\ncarson_x{role=\"a\\\"b\\\\c\\nd\"} 0.5\n"
    );
    let read = Scrape::read(&text);
    assert_eq!(read.value("carson_x", &[("role", "a\"b\\c\nd")]), Some(0.5));
}

fn page(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_table_of_the_page_is_the_list() {
    let page = page("docs/LOGGING.md");
    let written = page.lines().filter(|line| line.starts_with("| `carson_"));
    let rows: Vec<String> = METRICS
        .iter()
        .map(|metric| {
            let labels: Vec<String> = metric.labels.iter().map(|one| format!("`{one}`")).collect();
            let (name, kind, what) = (metric.name, metric.kind.as_str(), metric.what);
            let what = what.trim_end_matches('.');
            format!("| `{name}` | {kind} | {} | {what} |", labels.join(", "))
        })
        .collect();
    let written: Vec<&str> = written.collect();
    assert!(
        written == rows,
        "docs/LOGGING.md must have these rows:\n{}",
        rows.join("\n")
    );
}

#[test]
fn the_dashboard_shows_only_metrics_that_there_are() {
    let board: serde_json::Value =
        serde_json::from_str(&page("deploy/grafana/carson.json")).unwrap();
    let mut queries = Vec::new();
    expressions(&board, &mut queries);
    assert!(queries.len() >= 8, "{queries:#?}");
    let mut shown = BTreeSet::new();
    for query in &queries {
        let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words.filter(|word| word.starts_with("carson_")) {
            let metric = METRICS.iter().find(|metric| match metric.kind {
                Kind::Histogram => ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|suffix| word.strip_suffix(suffix) == Some(metric.name)),
                _ => word == metric.name,
            });
            let metric = metric.unwrap_or_else(|| panic!("{query}: there is no {word}"));
            shown.insert(metric.name);
            for label in grouped_by(query) {
                let known = metric.labels.contains(&label) || label == "le";
                assert!(known, "{query}: {} has no label {label}", metric.name);
            }
        }
    }
    assert!(shown.len() >= 8, "{shown:?}");
    // Identifiers of panels are their own.
    let panels = board["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len());
}

/// Every `expr` of a dashboard.
fn expressions(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str() {
                    Some(text) if name == "expr" => found.push(text.to_owned()),
                    _ => expressions(field, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|one| expressions(one, found)),
        _ => {}
    }
}

/// The labels of `by (…)`.
fn grouped_by(query: &str) -> Vec<&str> {
    let groups = query.split("by (").skip(1);
    groups
        .filter_map(|rest| rest.split_once(')'))
        .flat_map(|(labels, _)| labels.split(',').map(str::trim))
        .collect()
}
