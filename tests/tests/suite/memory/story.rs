//! One lesson from candidate to prompt to lift to revert, as `memory audit` tells it, and asked of both times.

use std::fs;

use carson_tests::fleet::TestFleet;
use carson_tests::postgres::TestDatabase;
use serde_json::{Value, json};

use super::budgets::{YES, judges_say};
use super::{NONE, asked, fire, fleet, head};

fn states(chain: &Value) -> Vec<&str> {
    let history = chain["history"].as_array().unwrap();
    history
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect()
}

/// Tells it on the fleet's database.
fn tell(fleet: &TestFleet) {
    judges_say(fleet, YES);
    let commit = head(fleet);
    let evidence = format!("file:src/upload.rs@{commit}:1-2");
    let text = "The uploader gives up after three retries";
    let words = [
        "propose",
        text,
        "--scope",
        "repo:widget",
        "--evidence",
        &evidence,
    ];
    let id = asked(fleet, &words)["id"].as_str().unwrap().to_owned();
    let gate = asked(fleet, &["gate"]);
    assert_eq!(gate["judged"][0]["decision"], json!("promote"), "{gate:#}");
    let firing = fire(fleet);
    let chain = asked(fleet, &["audit", &id]);
    assert_eq!(states(&chain), ["candidate", "promoted"], "{chain:#}");
    let judged = &chain["judgements"][0];
    assert_eq!(
        (&judged["account"], &judged["verdict"]["confidence"]),
        (&json!("play"), &json!(0.9)),
        "{chain:#}"
    );
    let told = &chain["told"][0];
    assert_eq!(
        (&told["firing"], &told["canon"], &told["outcome"]),
        (&json!(firing), &json!("instruction"), &json!("OK"))
    );
    let lift = asked(fleet, &["lift"]);
    let says = lift["roles"][0]["compared"].as_array().unwrap();
    assert!(
        says.iter().all(|one| one["says"] == "no-evidence"),
        "{lift:#}"
    );

    let before = chrono_now();
    let back = asked(fleet, &["revert", &id, "--reason", "it was a test"]);
    assert_eq!(back["lessons"][0]["seen_by"], json!([firing]), "{back:#}");
    let recalled = |more: &[&str]| {
        let found = asked(fleet, &[&["recall", "uploader retries"], more].concat());
        found.as_array().unwrap().len()
    };
    assert_eq!(recalled(&[]), 0);
    // What was known then of then, and of a time before it was so.
    assert_eq!(recalled(&["--known-at", &before, "--as-of", &before]), 1);
    let long_ago = ["--known-at", &before, "--as-of", "2020-01-01T00:00:00Z"];
    assert_eq!(recalled(&long_ago), 0);
    assert_eq!(recalled(&["--known-at", "2020-01-01T00:00:00Z"]), 0);
    let again = asked(fleet, &["revert", &id, "--undo"]);
    assert_eq!(again["lessons"][0]["state"], "promoted");
    assert_eq!(recalled(&[]), 1);
    let chain = asked(fleet, &["audit", &id]);
    assert_eq!(
        states(&chain),
        ["candidate", "promoted", "reverted", "promoted"]
    );
    let shown = fleet.carson(&["memory", "audit", &id]).stdout;
    for part in [
        "found     file:src/upload.rs",
        "gate ",
        "it was a test",
        "told  ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

fn chrono_now() -> String {
    carson_core::Clock::system().now().to_rfc3339()
}

const SETTINGS: &str = "holdout = \"0%\"\njudge = \"play\"\nauto_promote = true";

#[test]
fn a_lesson_s_whole_chain_and_both_times() {
    tell(&fleet(SETTINGS, NONE));
}

#[test]
fn a_lesson_s_whole_chain_and_both_times_on_postgres() {
    let database = TestDatabase::new();
    let fleet = fleet(SETTINGS, NONE);
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let section = format!("[database]\nurl = {:?}\n\n[repos.", database.url());
    assert!(text.contains("[repos."));
    fs::write(path, text.replacen("[repos.", &section, 1)).unwrap();
    tell(&fleet);
}

#[test]
fn what_alfred_remembers_comes_whole_and_once() {
    let fleet = fleet("", NONE);
    let long = "The gateway closes idle connections. ".repeat(40);
    let export = json!({
        "exported_at": "2026-05-01T00:00:00+00:00",
        "lessons": [{ "id": "01HX", "codename": "lucius", "repo": "acme/widget", "body": long.trim(),
            "tags": ["gateway"], "severity": "warning", "firing_id": "lucius-1",
            "created_at": "2026-04-01T10:00:00+00:00" }],
        "memory_candidates": [{ "id": "01HY", "codename": "bane", "repo": "acme/elsewhere",
            "body": "Coverage drops when the cache is warm.", "severity": "info", "evidence": "PR 7",
            "confidence": 0.8, "status": "promoted", "created_at": "2026-04-02 10:00:00" }],
    });
    let dir = fleet.root().join("alfred");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("brain.json"), export.to_string()).unwrap();
    fs::write(dir.join("notes.txt"), "no memory").unwrap();
    let one = dir.join("brain.json");
    let from =
        |place: &std::path::Path| asked(&fleet, &["import", "--alfred", place.to_str().unwrap()]);
    let brought = from(&one);
    assert_eq!(
        (&brought["imported"], &brought["known"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(brought["unknown_repos"], json!(["acme/elsewhere"]));
    let brought = from(&dir);
    assert_eq!(
        (&brought["imported"], &brought["known"]),
        (&json!(0), &json!(2))
    );
    let listed = asked(&fleet, &["list", "--source", "alfred"]);
    let listed = listed.as_array().unwrap();
    // What was promoted there has not gone through this gate.
    assert!(
        listed.iter().all(|one| one["state"] != "promoted"),
        "{listed:#?}"
    );
    // It holds in its own repository alone, also while nobody has that.
    let elsewhere = listed.iter().find(|one| one["scope"] == "repo:elsewhere");
    assert_eq!(elsewhere.unwrap()["state"], "held");
    let of_widget = listed
        .iter()
        .find(|one| one["scope"] == "repo:widget")
        .unwrap();
    assert_eq!(of_widget["body"].as_str().unwrap(), long.trim());
    assert!(of_widget["text"].as_str().unwrap().chars().count() <= 600);
    let run = asked(&fleet, &["gate"]);
    let judged = run["judged"].as_array().unwrap();
    assert!(
        judged.iter().all(|one| one["decision"] == "hold"),
        "{run:#}"
    );
    // The whole records go on to another home.
    let exported = fleet.carson(&["memory", "export"]).stdout;
    assert!(exported.contains("\"tags\":[\"gateway\"]"), "{exported}");
    let other = super::fleet("", NONE);
    let file = other.root().join("lessons.jsonl");
    fs::write(&file, &exported).unwrap();
    let brought = asked(&other, &["import", file.to_str().unwrap()]);
    assert_eq!(brought["imported"], json!(2));
    assert_eq!(other.carson(&["memory", "export"]).stdout, exported);
    // What is none is refused, and nothing of it is kept.
    let wrong = fleet.root().join("wrong.json");
    fs::write(&wrong, "{\"lessons\": [{\"codename\": \"x\"}]}").unwrap();
    let refused = fleet.carson(&["memory", "import", "--alfred", wrong.to_str().unwrap()]);
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.stderr.contains("record 1 is no lesson"),
        "{refused:?}"
    );
}
