use std::ffi::OsString;
use std::time::Duration;

use carson_proc::{Limits, capture};

use super::*;
use crate::session::{Ended, Limit, LimitKind};

/// Replays a transcript of the real CLI through the reader, as far as that lets it go on. The process
/// that carries it exits as the CLI did.
async fn replay(name: &str, exit: i32, max_turns: u32) -> (SessionEnd, Vec<Event>) {
    let path = format!("{}/testdata/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut output = Box::new(Output::new(max_turns));
    let mut events = Vec::new();
    for line in text.lines() {
        let flow = output.line(line.as_bytes(), &mut |event| events.push(event.clone()));
        if flow.is_break() {
            break;
        }
    }
    let command = Command::new("/bin/sh", "/")
        .arg("-c")
        .arg(format!("exit {exit}"));
    let done = capture(&command, &Limits::within(Duration::from_secs(5)))
        .await
        .unwrap();
    let now = DateTime::from_timestamp(1_795_230_000, 0).unwrap();
    (output.end(&done, &Redactor::default(), now), events)
}

fn limit(end: &SessionEnd) -> &Limit {
    match &end.ended {
        Ended::Limited(limit) => limit,
        other => panic!("{other:?}"),
    }
}

fn variables(of: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let pairs = of.iter().map(|(name, value)| (name.into(), value.into()));
    pairs.collect()
}

#[tokio::test]
async fn a_whole_session_completes_with_its_text_turns_and_tokens() {
    let (end, events) = replay("codex-exec", 0, 60).await;
    assert_eq!(end.ended, Ended::Completed);
    assert_eq!(end.text, "Done.\n\n[OK]");
    assert_eq!((end.turns, end.tokens_in, end.tokens_out), (2, 2000, 100));
    assert_eq!(end.cost_usd, None, "it names none");
    let calls = events.iter().filter(
        |event| matches!(event, Event::ToolCall { name, .. } if name == "command_execution"),
    );
    assert_eq!(calls.count(), 1);
}

#[tokio::test]
async fn a_call_that_the_hook_refused_is_not_in_its_output() {
    let (end, _) = replay("codex-hook", 0, 60).await;
    assert_eq!(end.ended, Ended::Completed);
    assert!(end.text.ends_with("[BLOCKED]"), "{}", end.text);
    assert!(end.denied.is_empty());
}

#[tokio::test]
async fn the_turn_ceiling_ends_it_at_its_last_call() {
    let (end, events) = replay("codex-budget", 143, 3).await;
    assert_eq!((&end.ended, end.turns), (&Ended::MaxTurns, 3));
    let calls = events
        .iter()
        .filter(|event| matches!(event, Event::ToolCall { .. }));
    assert_eq!(calls.count(), 3, "{events:?}");
}

#[tokio::test]
async fn its_own_budget_is_no_crash_and_its_calls_can_be_compared() {
    let (end, events) = replay("codex-budget", 1, 60).await;
    assert_eq!(end.ended, Ended::MaxCost);
    let done = |event: &Event| match event {
        Event::ToolDone { call, .. } => Some(call.unwrap()),
        _ => None,
    };
    let done: Vec<_> = events.iter().filter_map(done).collect();
    assert_eq!(done.len(), 5);
    assert!(done.iter().all(|call| *call == done[0]), "{done:?}");
}

#[test]
fn a_change_of_a_file_is_like_no_other_one() {
    let change = serde_json::json!({"type": "item.completed", "item": {
        "id": "item_1", "type": "file_change", "status": "completed",
        "changes": [{"path": "/wt/a.rs", "kind": "update"}],
    }});
    let mut done = Vec::new();
    let flow = Output::new(60).line(change.to_string().as_bytes(), &mut |event| {
        if let Event::ToolDone { call, .. } = event {
            done.push(*call);
        }
    });
    assert!(flow.is_continue());
    assert_eq!(done, [None]);
}

#[tokio::test]
async fn a_usage_limit_ends_when_it_says() {
    let (end, _) = replay("codex-usage", 1, 60).await;
    let limit = limit(&end);
    assert_eq!(limit.kind, LimitKind::UsageWindow);
    assert!(limit.resets_at.is_some(), "{limit:?}");
    assert_eq!(end.text, "", "what it printed is no answer");
}

#[tokio::test]
async fn other_refusals_are_told_apart() {
    let kind = async |name| limit(&replay(name, 1, 60).await.0).kind;
    assert_eq!(kind("codex-429").await, LimitKind::RateLimit);
    assert_eq!(kind("codex-quota").await, LimitKind::Billing);
    assert_eq!(kind("codex-401").await, LimitKind::Auth);
    let (end, _) = replay("codex-503", 1, 60).await;
    assert!(
        matches!(end.ended, Ended::Unavailable { .. }),
        "{:?}",
        end.ended
    );
}

#[test]
fn what_the_settings_say_is_toml_again() {
    let hook = Hook {
        command: "'/a b/carson-hook' || { echo \"no\n\" >&2; exit 2; }".to_owned(),
        settings_file: "/nowhere".into(),
    };
    let read = |setting: &str| setting.parse::<Table>().unwrap();
    let hooks = read(&before_tools(&hook));
    let tool = &hooks["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(tool["command"].as_str(), Some(hook.command.as_str()));
    let system = read(&setting(
        "developer_instructions",
        "say \"a\"\n\tb\u{7f}".into(),
    ));
    let said = system["developer_instructions"].as_str();
    assert_eq!(said, Some("say \"a\"\n\tb\u{7f}"));
    assert!(SETTINGS.iter().all(|setting| !read(setting).is_empty()));
}

#[test]
fn a_key_is_asked_with_where_nobody_else_says_whom() {
    let of = |env: &[(&str, &str)]| provider(&variables(env)).map(|both| both.join("\n"));
    let own = of(&[("OPENAI_API_KEY", "sk")]).unwrap();
    let own: Table = own.parse().unwrap();
    let named = &own["model_providers"]["carson"];
    assert_eq!(own["model_provider"].as_str(), Some("carson"));
    assert_eq!(named["env_key"].as_str(), Some("OPENAI_API_KEY"));
    assert_eq!(
        named["base_url"].as_str(),
        Some("https://api.openai.com/v1")
    );
    let proxied = [
        ("CODEX_API_KEY", "sk"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
    ];
    let proxied = of(&proxied).unwrap();
    assert!(proxied.contains("\"http://127.0.0.1:1/v1\""), "{proxied}");
    assert!(proxied.contains("\"CODEX_API_KEY\""), "{proxied}");
    assert_eq!(of(&[]), None);
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_str().unwrap();
    let in_home = || of(&[("OPENAI_API_KEY", "sk"), ("CODEX_HOME", home)]);
    assert!(in_home().is_some());
    std::fs::write(dir.path().join("auth.json"), "{}").unwrap();
    assert_eq!(in_home(), None);
}

#[test]
fn settings_that_name_a_provider_are_a_sign_in() {
    let dir = tempfile::tempdir().unwrap();
    let env = variables(&[("CODEX_HOME", dir.path().to_str().unwrap())]);
    assert!(!names_its_provider(&env));
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "model = \"gpt-5.5\"\n").unwrap();
    assert!(!names_its_provider(&env));
    std::fs::write(&file, "model_provider = \"gateway\"\n").unwrap();
    assert!(names_its_provider(&env));
}
