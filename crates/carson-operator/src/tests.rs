//! The list, and the way from JSON to JSON.

use std::collections::BTreeSet;

use carson_core::Clock;
use carson_home::{Home, testing};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;

/// An ask that says something in every field of its schema.
fn full(schema: &Value) -> Value {
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    let said = |field: &Value| {
        let one = |kind: &str| field["type"] == kind || field["type"][0] == kind;
        match () {
            () if one("string") => json!("x"),
            () if one("boolean") => json!(true),
            () if one("integer") => json!(7),
            () if one("number") => json!(0.5),
            () if one("array") => json!(["x"]),
            () => panic!("a field of a kind that faces do not know: {field:#}"),
        }
    };
    let said = fields
        .iter()
        .map(|(name, field)| (name.clone(), said(field)));
    said.collect::<Map<_, _>>().into()
}

#[test]
fn every_verb_reads_back_what_its_schema_says() {
    let mut names = BTreeSet::new();
    for verb in VERBS {
        let name = verb.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(!verb.what.is_empty() && !verb.what.ends_with('.'), "{name}");
        let schema = (verb.schema)().to_value();
        assert_eq!(schema["additionalProperties"], false, "{name}");
        let fields = schema["properties"].as_object().into_iter().flatten();
        for (field, what) in fields {
            assert!(
                what["description"].is_string(),
                "{name}: {field} says nothing"
            );
        }
        let ask = full(&schema);
        assert_eq!((verb.filled)(ask.clone()).unwrap(), ask, "{name}");
        let required = schema["required"].as_array().into_iter().flatten();
        for field in required.map(|field| field.as_str().unwrap()) {
            let mut less = ask.clone();
            less.as_object_mut().unwrap().remove(field);
            assert!((verb.filled)(less).is_err(), "{name} without {field}");
        }
        let mut more = ask.clone();
        more["nobody-knows"] = json!(1);
        let refusal = (verb.filled)(more).unwrap_err();
        assert!(
            refusal.is_of_the_ask() && refusal.hint().is_some(),
            "{name}"
        );
    }
}

#[test]
fn whoever_only_looks_is_anyone() {
    let who = |name: &str| VERBS.iter().find(|verb| verb.name == name).unwrap().who;
    assert_eq!(who("why"), Who::Anyone);
    assert_eq!(who("pause"), Who::Operator);
    assert_eq!(who("fire"), Who::Trusted);
    assert!(Who::Anyone < Who::Operator && Who::Operator < Who::Trusted);
}

async fn open_home() -> (TempDir, Home) {
    home_with("", &[]).await
}

/// A home with this more in its settings, and these roles: name and label.
pub(crate) async fn home_with(more: &str, roles: &[(&str, &str)]) -> (TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let settings = "[fleet]\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n";
    std::fs::write(dir.path().join("carson.toml"), format!("{settings}{more}")).unwrap();
    for (name, label) in roles {
        let role = dir.path().join("roles").join(name);
        std::fs::create_dir_all(&role).unwrap();
        let text = format!(
            "repos = [\"widget\"]\nengines = [\"claude\"]\ncadence = [\"0 0 * * *\"]\n\
             work = {{ from = \"issues\", label = {label:?} }}\n"
        );
        std::fs::write(role.join("role.toml"), text).unwrap();
    }
    let home = testing::open(dir.path(), Clock::system()).await.unwrap();
    (dir, home)
}

async fn ask(home: &Home, name: &str, ask: Value) -> Result<Value, Refusal> {
    let verb = VERBS.iter().find(|verb| verb.name == name).unwrap();
    (verb.answer)(home, ask).await
}

#[tokio::test]
async fn a_face_that_knows_only_json_blocks_and_clears_an_account() {
    let (_dir, home) = open_home().await;
    let set = json!({"account": "claude", "for": "2h"});
    let done = ask(&home, "block set", set).await.unwrap();
    assert_eq!(done["blocked"], true);
    let status = ask(&home, "status", json!({})).await.unwrap();
    assert_eq!(status["blocks"][0]["reason"], block::REASON);
    assert_eq!(status["blocks"][0]["until"], done["until"]);
    let clear = json!({"account": "claude"});
    let done = ask(&home, "block clear", clear).await.unwrap();
    assert_eq!(done["cleared"], true);
    let blocks = ask(&home, "block list", json!({})).await.unwrap();
    assert_eq!(blocks, json!([]));
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let (_dir, home) = open_home().await;
    let cases = [
        (
            "block clear",
            json!({"account": "x"}),
            "there is no account \"x\"",
            "there are: claude",
        ),
        (
            "why",
            json!({"what": "x"}),
            "there is no role \"x\"",
            "`carson init --role implementer`",
        ),
        (
            "firings show",
            json!({"id": "x"}),
            "there is no firing \"x\"",
            "lists them",
        ),
        ("issue list", json!({}), "which repository?", "add `repo`"),
        (
            "pause",
            json!({"wat": 1}),
            "this is no ask of \"pause\"",
            "the schema",
        ),
    ];
    for (verb, value, says, hint) in cases {
        let refusal = ask(&home, verb, value).await.unwrap_err();
        assert_eq!(refusal.to_string(), says);
        assert!(refusal.hint().unwrap().contains(hint), "{refusal:?}");
    }
    let twice = json!({"role": "a", "account": "claude"});
    let refusal = ask(&home, "pause", twice).await.unwrap_err();
    assert!(refusal.is_of_the_ask(), "{refusal}");
    let short = json!({"account": "claude", "for": "0s"});
    let refusal = ask(&home, "block set", short).await.unwrap_err();
    assert!(
        refusal.to_string().contains("would end at once"),
        "{refusal}"
    );
}

#[tokio::test]
async fn a_pause_has_a_bounded_reason_and_says_what_it_takes_the_place_of() {
    let (_dir, mut home) = home_with("", &[]).await;
    home.clock = Clock::manual(home.clock.now());
    let long = json!({"reason": "y".repeat(301)});
    let refusal = ask(&home, "pause", long).await.unwrap_err();
    assert!(refusal.is_of_the_ask() && refusal.to_string().contains("301"));
    let most = json!({"reason": "ü".repeat(300)});
    let first = ask(&home, "pause", most).await.unwrap();
    assert!(first["instead_of"].is_null(), "{first}");
    let shorter = json!({"for": "1h", "reason": "lunch"});
    let told = ask(&home, "pause", shorter).await.unwrap();
    assert_eq!(told["instead_of"]["reason"], "ü".repeat(300));
    assert!(told["instead_of"]["until"].is_null());
    let after = home.clock.now() + chrono::TimeDelta::hours(2);
    home.clock.set(after);
    let told = ask(&home, "pause", json!({})).await.unwrap();
    assert!(told["instead_of"].is_null(), "that one was over");
}

#[tokio::test]
async fn status_says_until_when_a_sink_is_quiet() {
    let (_dir, home) = home_with("", &[]).await;
    let now = home.clock.now();
    let until = now + chrono::TimeDelta::hours(2);
    home.store.set_quiet("slack", until, "ann").await.unwrap();
    home.store.set_quiet("ntfy", now, "ann").await.unwrap();
    let seen = ask(&home, "status", json!({})).await.unwrap();
    let quiets = seen["quiets"].as_array().unwrap();
    assert_eq!(quiets.len(), 1, "{quiets:?}");
    assert_eq!(quiets[0]["sink"], "slack");
    assert_eq!(quiets[0]["until"], json!(until));
}

const WIDGET: &str = "[repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";

async fn why(home: &Home) -> String {
    let why = ask(home, "why", json!({"what": "hand"})).await.unwrap();
    why["stops"].to_string()
}

#[tokio::test]
async fn a_new_issue_gets_the_label_of_the_role_that_works_there() {
    let (_dir, home) = home_with(WIDGET, &[]).await;
    let new = || json!({"title": "t"});
    let made = ask(&home, "issue create", new()).await.unwrap();
    assert_eq!(made["labels"], json!(["carson:ready"]));
    let (_dir, home) = home_with(WIDGET, &[("hand", "agent:ready")]).await;
    let made = ask(&home, "issue create", new()).await.unwrap();
    assert_eq!(made["labels"], json!(["agent:ready"]));
    assert!(!why(&home).await.contains("no-work"));
    // One that was made for somebody else is told, with what gives it to the role.
    let mistaken = json!({"number": 1, "add": ["carson:ready"], "remove": ["agent:ready"]});
    ask(&home, "issue label", mistaken).await.unwrap();
    let told = why(&home).await;
    assert!(
        told.contains("but #1 has carson:ready, which no role takes"),
        "{told}"
    );
    let command = "issue label 1 --add agent:ready --remove carson:ready --repo widget";
    assert!(told.contains(command), "{told}");
    let two = [("hand", "agent:ready"), ("eye", "docs:ready")];
    let (_dir, home) = home_with(WIDGET, &two).await;
    let refusal = ask(&home, "issue create", new()).await.unwrap_err();
    assert!(refusal.is_of_the_ask());
    let hint = refusal.hint().unwrap();
    assert!(
        hint.contains("agent:ready (hand), docs:ready (eye)"),
        "{hint}"
    );
}

#[tokio::test]
async fn an_issue_is_labelled_edited_and_closed() {
    let (_dir, home) = home_with(WIDGET, &[]).await;
    ask(&home, "issue create", json!({"title": "t", "body": "b"}))
        .await
        .unwrap();
    let label = json!({"number": 1, "add": ["p1"], "remove": ["carson:ready"]});
    let now = ask(&home, "issue label", label).await.unwrap();
    assert_eq!(now["labels"], json!(["p1"]));
    let now = ask(&home, "issue edit", json!({"number": 1, "title": "u"}));
    let now = now.await.unwrap();
    assert_eq!((&now["title"], &now["body"]), (&json!("u"), &json!("b")));
    let now = ask(&home, "issue close", json!({"number": 1}))
        .await
        .unwrap();
    assert_eq!(now["state"], "closed");
    for nothing in ["issue label", "issue edit"] {
        let refusal = ask(&home, nothing, json!({"number": 1})).await.unwrap_err();
        assert_eq!(refusal.to_string(), "nothing is to be changed");
    }
    let refusal = ask(&home, "pr close", json!({"number": 1}))
        .await
        .unwrap_err();
    assert!(refusal.to_string().contains("does not exist"), "{refusal}");
}
