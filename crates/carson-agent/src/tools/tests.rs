use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::*;
use crate::toolbox::Went;

/// All tools on a directory, without walls.
fn tools(dir: &std::path::Path, own: &[&str]) -> Tools {
    let place = Place::new(dir).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let shell = Shell {
        place: place.clone(),
        env: vec![("PATH".into(), path)],
        walls: None,
        longest: Duration::from_secs(60),
        redactor: carson_redact::Redactor::default(),
    };
    let gate = Gate::new(&place, BTreeMap::new());
    let own: Vec<String> = own.iter().map(|&name| name.to_owned()).collect();
    Tools::new(
        place,
        gate,
        shell,
        Approval::Nobody,
        Servers::default(),
        &own,
    )
}

async fn called(tools: &mut Tools, tool: &str, arguments: &str) -> Observation {
    let call = Call {
        id: "1".to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    tools.call(&call, Duration::from_secs(60), 2_000).await
}

#[tokio::test]
async fn a_file_is_written_read_found_edited_and_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut tools = tools(dir.path(), &names());
    let mut go = async |tool: &str, arguments: Value| {
        let had = called(&mut tools, tool, &arguments.to_string()).await;
        assert_eq!(had.went, Went::Well, "{}", had.text);
        had.text
    };
    go(
        "write_file",
        json!({ "path": "src/a.sh", "content": "echo one\n" }),
    )
    .await;
    assert_eq!(
        go("read_file", json!({ "path": "src/a.sh" })).await,
        "echo one\n"
    );
    assert_eq!(go("list", json!({ "depth": 2 })).await, "src/\nsrc/a.sh");
    assert_eq!(
        go("grep", json!({ "pattern": "o.e" })).await,
        "src/a.sh:1: echo one"
    );
    go(
        "edit_file",
        json!({ "path": "src/a.sh", "old": "one", "new": "two" }),
    )
    .await;
    let ran = go(
        "run",
        json!({ "command": "sh src/a.sh; echo bad >&2; exit 3" }),
    )
    .await;
    assert_eq!(ran, "[exit code 3]\ntwo\nbad\n");
    assert_eq!(
        go("grep", json!({ "pattern": "nothing" })).await,
        "[nothing]"
    );
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "x x").unwrap();
    fs::write(dir.path().join("binary"), [0xff, 0xfe, 0]).unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let mut tools = tools(dir.path(), &names());
    for (tool, arguments) in [
        ("fly", "{}"),
        ("read_file", "{"),
        ("read_file", "[]"),
        ("read_file", "{}"),
        ("read_file", r#"{"path":"a","mode":"x"}"#),
        ("read_file", r#"{"path":"none"}"#),
        ("read_file", r#"{"path":"."}"#),
        ("read_file", r#"{"path":"binary"}"#),
        ("read_file", r#"{"path":"../../etc/passwd"}"#),
        ("write_file", r#"{"path":"/etc/x","content":""}"#),
        (
            "write_file",
            r#"{"path":".git/hooks/pre-commit","content":""}"#,
        ),
        ("write_file", r#"{"path":"a/b","content":""}"#),
        ("write_file", r#"{"path":".","content":""}"#),
        ("edit_file", r#"{"path":"a","old":"x","new":"y"}"#),
        ("edit_file", r#"{"path":"a","old":"z","new":"y"}"#),
        ("list", r#"{"path":"a"}"#),
        ("grep", r#"{"pattern":"("}"#),
    ] {
        let had = called(&mut tools, tool, arguments).await;
        assert_eq!(had.went, Went::Wrong, "{tool} {arguments}: {}", had.text);
        assert!(had.text.starts_with("[error] "), "{}", had.text);
    }
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "x x");
    let refused = called(
        &mut tools,
        "run",
        r#"{"command":"git push -f origin main"}"#,
    )
    .await;
    assert_eq!(refused.went, Went::Refused);
    assert!(refused.text.contains("blocked by rule"), "{}", refused.text);
}

#[tokio::test]
async fn who_is_given_no_tool_that_writes_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut tools = tools(dir.path(), &["read_file", "list", "grep"]);
    let names: Vec<&str> = tools
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    assert_eq!(names, ["read_file", "list", "grep"]);
    let had = called(&mut tools, "write_file", r#"{"path":"a","content":"x"}"#).await;
    assert_eq!(had.went, Went::Wrong);
    assert!(!dir.path().join("a").exists());
}

#[tokio::test]
async fn a_command_has_an_end_and_leaves_nobody_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut tools = tools(dir.path(), &names());
    let line = "(sleep 1000 & echo $! > left); echo here; sleep 1000";
    let call = Call {
        id: "1".to_owned(),
        tool: "run".to_owned(),
        arguments: json!({ "command": line }).to_string(),
    };
    let had = tools.call(&call, Duration::from_millis(500), 2_000).await;
    assert_eq!(had.text, "[stopped: it took too long]\nhere\n");
    let left = fs::read_to_string(dir.path().join("left")).unwrap();
    // A dead one that nobody has reaped has no command line any more.
    let file = format!("/proc/{}/cmdline", left.trim());
    for _ in 0..500 {
        if fs::read(&file).is_ok_and(|line| !line.is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(
        fs::read(&file).unwrap_or_default().is_empty(),
        "it is still there"
    );
}

#[tokio::test]
async fn what_is_read_is_no_longer_than_there_is_room_for() {
    let dir = tempfile::tempdir().unwrap();
    let text: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    fs::write(dir.path().join("long"), &text).unwrap();
    for n in 0..500 {
        fs::write(dir.path().join(format!("file-with-a-name-{n}")), "").unwrap();
    }
    let mut tools = tools(dir.path(), &names());
    for (tool, arguments) in [
        ("read_file", r#"{"path":"long"}"#),
        ("list", "{}"),
        ("grep", r#"{"pattern":"line"}"#),
        ("run", r#"{"command":"cat long"}"#),
    ] {
        let had = called(&mut tools, tool, arguments).await;
        assert_eq!(had.went, Went::Well);
        assert!(had.text.chars().count() <= 2_000, "{tool}");
    }
}
