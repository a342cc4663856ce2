//! What is sent to an endpoint, and what `--json` says.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::server::{Say, Server, call, words};
use crate::{KEY, Work};

#[tokio::test]
async fn a_model_without_tool_calling_calls_in_words() {
    let refusal = "{\"error\":{\"message\":\"scripted does not support tools\"}}";
    let block = "I write.\n```tool\n{\"tool\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"x\"}}\n```";
    let server = Server::plays(vec![
        Say::Status(400, "", refusal),
        words("```tool\n{\"tool\": \"write_file\", \"path\": \"a\"}\n```"),
        words(block),
        words("Done."),
    ]);
    let work = Work::with(&[]);
    let ran = work
        .agent(&server.url(), &["--until", "test -s a", "Write a."])
        .await;
    assert_eq!(
        ran.last_line(),
        "→ done after 2 iteration(s): verify passed",
        "{}",
        ran.stderr
    );
    assert_eq!(work.text("a"), "x");
    let asked = server.heard();
    assert!(asked[0].body["tools"].is_array());
    assert!(asked[1].body.get("tools").is_none());
    let system = asked[1].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("- write_file: "), "{system}");
    let roles: Vec<&str> = asked[2].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let told = asked[2].body["messages"][3]["content"].as_str().unwrap();
    assert!(
        told.contains("[error] the block is not one JSON object"),
        "{told}"
    );
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_understood() {
    let function =
        json!({ "name": "write_file", "arguments": "{\"path\":\"a\",\"content\":\"x\"}" });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "function": function }] });
    let whole = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    let server = Server::plays(vec![Say::Whole(whole)]);
    let work = Work::with(&[]);
    let ran = work
        .agent(&server.url(), &["--until", "test -s a", "Write a."])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[tokio::test]
async fn the_key_goes_to_the_endpoint_and_nowhere_else() {
    let echo = call(
        "run",
        json!({ "command": "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'" }),
    );
    let server = Server::plays(vec![echo, words(&format!("The key is {KEY}."))]);
    let work = Work::with(&[]);
    for json in [false, true] {
        let mut args = vec!["--api-key-env", "AGENT_TEST_KEY", "Find it."];
        if json {
            args.insert(0, "--json");
        }
        let ran = work.agent(&server.url(), &args).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            !ran.stdout.contains(KEY) && !ran.stderr.contains(KEY),
            "it is shown"
        );
        assert!(ran.stdout.contains("[redacted:"), "{}", ran.stdout);
    }
    let asked = server.heard();
    assert!(
        asked[0]
            .head
            .contains(&format!("authorization: Bearer {KEY}"))
    );
    let seen = asked[1].body["messages"].to_string();
    assert!(!seen.contains(KEY), "a command has seen it");

    let file = work.outside().join("key");
    fs::write(&file, format!("{KEY}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::plays(vec![words("Hello.")]);
    let ran = work
        .agent(
            &server.url(),
            &["--api-key-file", file.to_str().unwrap(), "Hi."],
        )
        .await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(server.heard()[0].head.contains(KEY));
}

#[tokio::test]
async fn a_conversation_has_a_size() {
    let big = "y".repeat(30_000);
    let writes = (0..8).map(|n| {
        let name = format!("f{n}");
        call(
            "write_file",
            json!({ "path": name, "content": format!("{n}{big}") }),
        )
    });
    let server = Server::plays(writes.collect());
    let work = Work::with(&[]);
    let args = ["--preset", "local", "--until", "false", "Fill the disk."];
    let ran = work.agent(&server.url(), &args).await;
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    for asked in server.heard() {
        let messages = asked.body["messages"].as_array().unwrap();
        let read: usize = messages
            .iter()
            .map(|message| message.to_string().chars().count())
            .sum();
        assert!(read < 4_096 * 4, "{read}");
        assert_eq!(messages[1]["content"], "Fill the disk.");
    }
}

#[tokio::test]
async fn events_tell_a_run_from_its_beginning_to_its_end() {
    let server = Server::plays(vec![
        call("run", json!({ "command": "git push --force origin main" })),
        call("write_file", json!({ "path": "a", "content": "x" })),
        words("Done."),
    ]);
    let work = Work::with(&[]);
    let args = [
        "--json",
        "--until",
        "grep -q y a",
        "--max-iterations",
        "3",
        "Write a.",
    ];
    let ran = work.agent(&server.url(), &args).await;
    let events = ran.events();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "session",
            "usage",
            "tool_call",
            "tool_result",
            "usage",
            "tool_call",
            "tool_result",
            "check",
            "usage",
            "text",
            "end"
        ]
    );
    assert_eq!(events[0]["model"], "scripted");
    assert_eq!(events[0]["bounds"]["max_iterations"], 3);
    assert_eq!(events[1]["input_tokens"], 100);
    assert_eq!(
        events[2]["arguments"]["command"],
        "git push --force origin main"
    );
    assert_eq!(events[3]["went"], "refused");
    assert_eq!(
        (&events[7]["passed"], &events[7]["iteration"]),
        (&json!(false), &json!(2))
    );
    let end = events.last().unwrap();
    for (key, value) in [
        ("outcome", json!("exhausted")),
        ("exit_code", json!(3)),
        ("stop", json!("max-iterations")),
        ("verified", json!("failed")),
        ("turns", json!(3)),
        ("tool_calls", json!(2)),
        ("input_tokens", json!(300)),
    ] {
        assert_eq!(end[key], value, "{key}: {end}");
    }
    assert!(end["text"].as_str().unwrap().contains("Done."));
}

#[tokio::test]
async fn a_limit_says_when_it_ends() {
    let server = Server::plays(vec![Say::Status(429, "retry-after: 7200", "quota")]);
    let work = Work::with(&[]);
    let ran = work.agent(&server.url(), &["--json", "Hi."]).await;
    let events = ran.events();
    let end = events.last().unwrap();
    assert_eq!((ran.code, server.heard().len()), (5, 1), "{}", ran.stderr);
    assert_eq!(
        (&end["status"], &end["retry_after_seconds"]),
        (&json!(429), &json!(7200))
    );
    assert_eq!(end["outcome"], Value::from("endpoint"));
}
