//! A home that the version before the effects wrote: two firings that ended, one in flight whose process is
//! gone, its claim on the forge, and posts that wait for a chat that is away.
//!
//! `testdata/older/` is that home, as the version before wrote it (migration 0010), with `@ROOT@` for
//! the directory it stood in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use carson_tests::fleet::{TestFleet, tree};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Executor as _};

/// The firing that was in flight.
const IN_FLIGHT: &str = "slow";

fn older() -> TestFleet {
    let fleet = TestFleet::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/older");
    let root = fleet.root().to_str().unwrap();
    let home = from.join("home");
    for (path, content) in tree(&home) {
        let path = fleet.home().join(path.strip_prefix(&home).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = String::from_utf8(content).unwrap();
        fs::write(&path, text.replace("@ROOT@", root)).unwrap();
    }
    let url = fleet.home().join("slack.url");
    fs::set_permissions(url, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let dump = fs::read_to_string(from.join("carson.sql")).unwrap();
    let state = fleet.home().join("state");
    fs::create_dir_all(&state).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let file = SqliteConnectOptions::new().filename(state.join("carson.db"));
        let mut database: SqliteConnection = file.create_if_missing(true).connect().await.unwrap();
        #[expect(clippy::disallowed_methods, reason = "the dump is ours")]
        let dump = sqlx::AssertSqlSafe(dump.replace("@ROOT@", root));
        database.execute(dump).await.unwrap();
    });
    fleet
}

fn rows(fleet: &TestFleet) -> BTreeMap<String, Value> {
    let rows = fleet.ok(&["firings", "--all", "--json"]);
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (row["work"].as_str().unwrap().to_owned(), row.clone()))
        .collect()
}

#[test]
fn rows_claims_and_posts_in_flight_go_on() {
    let fleet = older();

    // Everything is there, before anything is done.
    let before = rows(&fleet);
    let outcomes: Vec<&Value> = before.values().map(|row| &row["outcome"]).collect();
    assert_eq!(outcomes, [&"OK".into(), &"BLOCKED".into(), &Value::Null]);
    assert_eq!(before["issue-3"]["role"], IN_FLIGHT);
    let pull = before["issue-1"]["pr_url"].as_str().unwrap_or_default();
    assert!(pull.ends_with("0004.md"), "{:#}", before["issue-1"]);
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(status["sinks"][0]["waiting"], 7, "{:#}", status["sinks"]);
    assert_eq!(status["pauses"].as_array().unwrap().len(), 1, "{status:#}");
    assert!(fleet.labels(3).contains(&"carson:in-flight".to_owned()));

    // The one in flight ends, once, and its claim with it; nothing else changes.
    let pruned = fleet.ok(&["prune", "--json"]);
    assert_eq!(
        pruned["concluded"].as_array().unwrap().len(),
        1,
        "{pruned:#}"
    );
    let again = fleet.ok(&["prune", "--json"]);
    assert_eq!(again["concluded"].as_array().unwrap().len(), 0, "{again:#}");
    let after = rows(&fleet);
    assert_eq!(
        after["issue-3"]["outcome"], "CRASHED",
        "{:#}",
        after["issue-3"]
    );
    for work in ["issue-1", "issue-2"] {
        assert_eq!(after[work], before[work]);
    }
    assert!(fleet.labels(3).contains(&"for:slow".to_owned()));
    assert!(!fleet.labels(3).contains(&"carson:in-flight".to_owned()));
    assert_eq!(fleet.pulls().len(), 1);
}
