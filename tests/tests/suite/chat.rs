//! A firing's thread in the chat, from the work that is taken to what the operator needs.

mod sinks;

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::daemon::Daemon;

/// A Slack that takes everything.
#[derive(Clone, Default)]
struct Slack(Arc<Mutex<Vec<Value>>>);

impl Respond for Slack {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut calls = self.0.lock().unwrap();
        let mut body: Value = request.body_json().unwrap();
        body["verb"] = json!(request.url.path());
        body["token"] = json!(request.headers["authorization"].to_str().unwrap());
        calls.push(body);
        let ts = format!("1.{:03}", calls.len());
        ResponseTemplate::new(200).set_body_json(json!({"ok": true, "ts": ts}))
    }
}

/// One role that ends well, one that fails, and one that finds nothing.
fn fleet(slack: &MockServer) -> TestFleet {
    let fleet = TestFleet::new();
    fleet.script(
        r#"
        [[when]]
        stage = "plan"
        do = [{ say = "[OK] planned" }]
        [[when]]
        stage = "execute"
        issue = 1
        do = [
            { edit = { path = "done.txt", content = "done\n" } },
            { commit = "Do it" },
            { say = "[OK] done" },
        ]
        [[when]]
        stage = "execute"
        issue = 2
        do = [
            { edit = { path = "half.txt", content = "half\n" } },
            { tool = "git push --force origin main" },
            { exit = 3 },
        ]
        [[when]]
        do = [{ say = "[APPROVE]" }]
        "#,
    );
    secret(&fleet, "slack.token", "xoxb-not-a-real-one\n");
    let uri = slack.uri();
    let section = format!(
        "\n[slack]\napi_base = {uri:?}\nchannel = \"#fleet\"\ntoken_file = \"slack.token\"\n"
    );
    add_settings(&fleet, &section);
    fleet
}

fn secret(fleet: &TestFleet, name: &str, text: &str) {
    let path = fleet.home().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
}

fn add_settings(fleet: &TestFleet, section: &str) {
    let path = fleet.home().join("carson.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, settings + section).unwrap();
}

fn calls_about<'c>(calls: &'c [Value], work: &str) -> Vec<&'c Value> {
    let about = |call: &&Value| call["text"].as_str().unwrap().contains(work);
    calls.iter().filter(about).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_firing_has_one_thread() {
    let (slack, server) = (Slack::default(), MockServer::start().await);
    let mock = Mock::given(method("POST")).respond_with(slack.clone());
    mock.mount(&server).await;
    let fleet = fleet(&server);
    fleet.role("good", "play", "");
    fleet.role("bad", "play", "[limits]\nfail_streak = 1\n");
    fleet.role("idle", "play", "");
    fleet.issue("good", "Add <!channel> & co", "Please.");
    fleet.issue("bad", "Break it", "Please.");
    assert_eq!(fleet.fire("good").code, Some(0));
    assert_eq!(fleet.fire("bad").code, Some(13));
    assert_eq!(fleet.fire("idle").code, Some(0));
    assert_eq!(
        fleet.ok(&["status", "--json"])["outbox"],
        6,
        "filed, and not lost meanwhile"
    );
    assert!(slack.0.lock().unwrap().is_empty());

    let _daemon = Daemon::start(&fleet, &[]);
    let calls = until("the outbox to be drained", || {
        let calls = slack.0.lock().unwrap();
        (calls.len() == 6).then(|| calls.clone())
    });
    assert!(
        calls
            .iter()
            .all(|call| call["token"] == "Bearer xoxb-not-a-real-one")
    );
    thread_of_the_good_one(&calls_about(&calls, "Add "));
    thread_of_the_bad_one(&calls_about(&calls, "Break it"));
    the_stop_of_the_bad_one(&calls_about(&calls, "bad stopped"));
    assert_eq!(fleet.ok(&["status", "--json"])["outbox"], 0);
}

/// Nobody else would say that the household had no butler for a while.
#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_was_away_for_long_says_so_in_the_chat() {
    let (slack, server) = (Slack::default(), MockServer::start().await);
    let mock = Mock::given(method("POST")).respond_with(slack.clone());
    mock.mount(&server).await;
    let fleet = fleet(&server);
    fleet.role("good", "play", "");
    add_settings(&fleet, "\n[heartbeat]\nalert_after_down = \"1s\"\n");
    let first = Daemon::start(&fleet, &[]);
    let last = until("its first sign of life", || {
        let status = fleet.carson(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status.stdout).ok()?;
        status["hosts"].get(0).map(|_| std::time::Instant::now())
    });
    first.killed();
    until("the patience to end", || {
        (last.elapsed() > std::time::Duration::from_millis(1_100)).then_some(())
    });
    let _second = Daemon::start(&fleet, &[]);
    let calls = until("the chat to hear of it", || {
        let calls = slack.0.lock().unwrap();
        (!calls.is_empty()).then(|| calls.clone())
    });
    assert_eq!(calls.len(), 1, "{calls:#?}");
    let said = calls[0].to_string();
    assert!(
        said.contains("Carson is back") && said.contains("at most one per role is caught up"),
        "{said}"
    );
}

fn thread_of_the_good_one(calls: &[&Value]) {
    let [root, update] = calls else {
        panic!("a reply would say nothing new: {calls:#?}");
    };
    assert_eq!(root["verb"], "/chat.postMessage");
    assert_eq!(
        root["text"],
        "⏳ good · #1 Add &lt;\u{2060}!channel&gt; &amp; co"
    );
    assert!(root["thread_ts"].is_null() && root["channel"] == "#fleet");
    assert_eq!(update["verb"], "/chat.update");
    assert_eq!(
        update["text"],
        "✅ OK · good · #1 Add &lt;\u{2060}!channel&gt; &amp; co"
    );
    let said = update["blocks"].to_string();
    assert!(
        said.contains("Pull request #") && said.contains("no check was run"),
        "{update:#}"
    );
}

fn thread_of_the_bad_one(calls: &[&Value]) {
    let [root, update, reply] = calls else {
        panic!("{calls:#?}");
    };
    assert!(
        root["text"].as_str().unwrap().starts_with("⏳ bad"),
        "{root:#}"
    );
    assert!(
        update["text"].as_str().unwrap().starts_with("⚠️ FAILED"),
        "{update:#}"
    );
    assert_eq!(
        (update["ts"].as_str(), reply["reply_broadcast"] == true),
        (reply["thread_ts"].as_str(), false)
    );
    let said = reply["blocks"].to_string();
    assert!(
        said.contains("Blocked calls: 1") && said.contains("git push --force origin main"),
        "{reply:#}"
    );
    assert!(
        update["blocks"].to_string().contains("Draft #"),
        "{update:#}"
    );
}

/// What stops the role is told in the channel, apart from the firing.
fn the_stop_of_the_bad_one(calls: &[&Value]) {
    let [stop] = calls else {
        panic!("{calls:#?}");
    };
    assert_eq!(stop["text"], "<!here> 🚨 bad stopped");
    assert!(stop["thread_ts"].is_null(), "{stop:#}");
    let said = stop["blocks"].to_string();
    assert!(
        said.contains("1 bad outcome in a row") && said.contains("`carson breaker reset bad`"),
        "{stop:#}"
    );
}

/// A CLI that is broken fails at every slot: that is one state, and told once.
#[test]
fn a_role_that_goes_on_failing_is_told_once_and_so_is_its_stop() {
    let fleet = TestFleet::new();
    fleet.script("[[when]]\ndo = [{ exit = 3 }]\n");
    let uri = "http://127.0.0.1:9";
    add_settings(&fleet, &format!("\n[webhook]\nurl = \"{uri}\"\n"));
    fleet.role("bad", "play", "[limits]\nfail_streak = 3\n");
    let filed = || fleet.ok(&["status", "--json"])["outbox"].as_u64().unwrap();
    let mut after_each = Vec::new();
    for issue in ["One", "Two", "Three"] {
        fleet.issue("bad", issue, "Please.");
        assert_eq!(fleet.fire("bad").code, Some(13));
        after_each.push(filed());
    }
    // Its root and its end; nothing; and that its breaker opened.
    assert_eq!(after_each, [2, 2, 3]);
    for (told, args) in [
        (1, &["breaker", "reset", "bad", "--json"][..]),
        (0, &["breaker", "reset", "bad", "--json"]),
        (1, &["pause", "--role", "bad", "--json"]),
        (1, &["resume", "--role", "bad", "--json"]),
        (0, &["resume", "--role", "bad", "--json"]),
        (1, &["block", "set", "play", "--json"]),
        (1, &["block", "clear", "play", "--json"]),
    ] {
        let before = filed();
        let _ = fleet.carson(args);
        assert_eq!(filed() - before, told, "{args:?}");
    }
}
