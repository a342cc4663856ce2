//! What a client, a directory or a model may do to the binary that it should not have.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::{Value, json};

use super::scene::{Server, errand, make_loop, mcp};

/// Looks like a key, and its variable says that it is one.
const KEY: &str = "zebra-7hG2kQ9xLmB7tZk3v";

/// What every line on standard output is.
fn assert_protocol(line: &str) -> Value {
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

#[test]
fn a_directory_s_command_runs_only_where_that_directory_was_granted() {
    let fleet = TestFleet::new();
    make_loop(&fleet, "touch owned", "touch owned", 1);
    let owned = errand(&fleet).join("owned");
    let other = fleet.root().join("other");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    for (args, says) in [
        (vec![], "this server has not the grant \"loop\""),
        (
            vec!["--grant", "queue"],
            "this server has not the grant \"loop\"",
        ),
        (
            vec!["--root", "."],
            "this server has not the grant \"loop\"",
        ),
        (
            vec!["--grant", "loop", "--root", other],
            "is for other directories than",
        ),
    ] {
        let mut server = Server::begun(mcp(&fleet, &args));
        for tool in ["loop_test_promise", "alpf_test_promise"] {
            let (text, refuses) = server.call(tool, json!({}));
            assert!(
                !refuses && text.contains("\"walled\":true"),
                "{args:?} {tool}: {text}"
            );
            assert!(text.contains("\"promise_fulfilled\":false"), "{text}");
        }
        for tool in ["loop_start", "alpf_start"] {
            let (text, refuses) = server.call(tool, json!({}));
            assert!(refuses && text.contains(says), "{args:?} {tool}: {text}");
            assert!(
                text.contains("hint: ") && text.contains("`carson loop test`"),
                "{text}"
            );
        }
        assert!(!server.call("loop_status", json!({})).1);
    }
    assert!(!owned.exists());
    for args in [
        vec!["--grant", "loop"],
        vec!["--grant", "loop", "--root", "."],
    ] {
        let mut server = Server::begun(mcp(&fleet, &args));
        let (text, refuses) = server.call("loop_test_promise", json!({}));
        assert!(
            !refuses
                && text.contains("\"promise_fulfilled\":true")
                && text.contains("\"walled\":false"),
            "{text}"
        );
        fs::remove_file(&owned).unwrap();
    }
}

/// What a promise that nobody granted can reach; as it is, it reaches all of it.
#[test]
fn a_promise_behind_walls_reads_the_tree_and_reaches_nothing_else() {
    let fleet = TestFleet::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Where nobody hides anything.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let note = home.path().join("note");
    fs::write(&note, "mine").unwrap();
    let reaches = [
        ("key", "test -n \"$ZEBRA_TOKEN\"".to_owned()),
        ("home", format!("cat {}", note.display())),
        ("tree", "touch owned".to_owned()),
        ("state", "touch .carson/loop/owned".to_owned()),
        (
            "net",
            format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
        ),
    ];
    let each = reaches
        .iter()
        .map(|(name, command)| format!("if {command} 2>/dev/null; then echo reached {name}; fi"));
    let look = "cat here; touch \"$HOME/x\" \"$TMPDIR/y\" && echo wrote";
    let promise = format!("{}; {look}", each.collect::<Vec<_>>().join("; "));
    make_loop(&fleet, &promise, "true", 1);
    fs::write(errand(&fleet).join("here"), "looked\n").unwrap();
    for grant in [&["--grant", "loop"][..], &[]] {
        let mut command = mcp(&fleet, grant);
        command.env("ZEBRA_TOKEN", KEY).env("HOME", home.path());
        let mut server = Server::begun(command);
        let (text, refuses) = server.call("loop_test_promise", json!({}));
        assert!(
            !refuses && text.contains("looked\\nwrote\\n"),
            "{grant:?}: {text}"
        );
        assert!(text.contains("\"promise_fulfilled\":true"), "{text}");
        for (name, _) in &reaches {
            let reached = text.contains(&format!("reached {name}"));
            assert_eq!(reached, !grant.is_empty(), "{name}: {text}");
        }
        let walled = format!("\"walled\":{}", grant.is_empty());
        assert!(text.contains(&walled), "{text}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_loop_s_file_holds_neither_calls_nor_the_end_up() {
    let fleet = TestFleet::new();
    let place = make_loop(&fleet, "true", "true", 1);
    let lock = place.lock();
    let _ = fs::remove_file(&lock);
    mkfifo(&lock, Mode::S_IRWXU).unwrap();
    let mut server = Server::begun(mcp(&fleet, &[]));
    let (text, refuses) = server.call("loop_status", json!({}));
    assert!(refuses && text.contains("no file at all"), "{text}");
    kill(Pid::from_raw(server.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output_and_no_secret_on_either() {
    let fleet = TestFleet::new();
    let promise = "echo loud; echo louder >&2; echo $ZEBRA_TOKEN; exit 1";
    let task = format!("echo {KEY}; echo $ZEBRA_TOKEN | rev | rev; echo task >&2");
    make_loop(&fleet, promise, &task, 1);
    let mut command = mcp(&fleet, &["--grant", "loop,queue"]);
    command
        .env("CARSON_LOG", "trace")
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "1")
        .env("ZEBRA_TOKEN", KEY);
    let mut server = Server::begun(command);
    let log = server.log();
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("loop_status", json!({})),
        ("loop_test_promise", json!({})),
        ("loop_start", json!({})),
        ("fleet_status", json!({})),
        (
            "queue_add",
            json!({"title": format!("Rotate {KEY}"), "body": KEY}),
        ),
        ("fleet_why", json!({"what": KEY})),
        ("loop_status", json!({"directory": KEY})),
        ("loop_status", json!({KEY: 1})),
        ("loop_history", json!({"limit": KEY})),
        ("loop_update_task", json!({"task": format!("use {KEY}")})),
    ] {
        said.push(server.call(tool, arguments).0);
    }
    until("the loop to end", || {
        let (text, _) = server.call("loop_status", json!({}));
        (!text.contains("\"running\"")).then_some(())
    });
    said.push(server.call("loop_history", json!({})).0);
    said.push(server.ask("wat/wat", json!({})).to_string());
    server
        .say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": KEY}}));
    said.push(server.hear().to_string());
    server.leave();
    let (rest, log) = (server.rest(), log.join().unwrap());
    for line in rest.lines() {
        assert_protocol(line);
    }
    said.push(rest);
    for text in &said {
        assert!(!text.contains(KEY), "{text}");
    }
    let history = &said[10];
    assert!(
        history.contains("task") && history.contains("loud") && history.contains("[redacted:"),
        "{history}"
    );
    assert!(log.contains("TRACE"), "nothing was logged: {log}");
    assert!(!log.contains(KEY), "{log}");
}

#[test]
fn a_client_that_never_reads_is_left_when_the_server_is_told_to_end() {
    let fleet = TestFleet::new();
    let mut child = piped(mcp(&fleet, &[]));
    let mut to = child.stdin.take().unwrap();
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "deaf", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    let writer = std::thread::spawn(move || {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        let lines = std::iter::once(&hello).chain(std::iter::repeat_n(&ping, 1_000_000));
        let mut lines = lines.map(|line| format!("{line}\n"));
        lines.any(|line| {
            count.fetch_add(1, Ordering::Relaxed);
            to.write_all(line.as_bytes()).is_err()
        })
    });
    let mut seen = (0, 0);
    until("the writer to stand still", || {
        let now = sent.load(Ordering::Relaxed);
        seen = if now == seen.0 {
            (now, seen.1 + 1)
        } else {
            (now, 0)
        };
        (now > 1 && seen.1 == 50).then_some(())
    });
    assert!(!writer.is_finished(), "a million lines were taken in");
    kill(
        Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    let status = until("the server to end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert!(writer.join().unwrap());
}

#[test]
fn a_client_that_never_reads_the_log_is_answered_and_the_server_ends_when_told() {
    let fleet = TestFleet::new();
    let mut command = mcp(&fleet, &[]);
    command.env("CARSON_LOG", "trace");
    let mut server = Server::begun(command);
    // Each is told several times at that level: far more than a pipe holds.
    for _ in 0..500 {
        assert_eq!(server.ask("ping", json!({})), json!({}));
    }
    kill(Pid::from_raw(server.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn a_frame_without_an_end_costs_no_memory_and_the_next_one_is_answered() {
    let fleet = TestFleet::new();
    let mut server = Server::begun(mcp(&fleet, &[]));
    let begin = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#;
    let piece = "y".repeat(1 << 20);
    server.write(begin.as_bytes());
    for _ in 0..256 {
        server.write(piece.as_bytes());
    }
    server.write(b"\"}}\n");
    assert_eq!(
        server.hear()["error"]["message"],
        "a message of more than 1048576 bytes is not read"
    );
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.unwrap().trim().trim_end_matches(" kB");
    assert!(most.parse::<u64>().unwrap() < 128 << 10, "{most} kB");
    assert_eq!(server.ask("ping", json!({})), json!({}));
}

#[test]
fn who_asks_for_much_at_once_is_answered_once_each_and_the_server_stays() {
    let fleet = TestFleet::new();
    make_loop(&fleet, "sleep 0.3", "true", 1);
    let mut server = Server::begun(mcp(&fleet, &["--grant", "loop"]));
    for id in 0..60 {
        let call = json!({"name": "loop_test_promise", "arguments": {}});
        server.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}));
    }
    let answers: Vec<Value> = (0..60).map(|_| server.hear()).collect();
    let ids: BTreeSet<u64> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..60).collect());
    let (done, refused): (Vec<_>, Vec<_>) = answers
        .iter()
        .map(|answer| answer["result"]["content"][0]["text"].as_str().unwrap())
        .partition(|text| text.contains("\"promise_fulfilled\":true"));
    assert!(done.len() >= 16 && !refused.is_empty(), "{}", done.len());
    for text in refused {
        assert!(
            text.starts_with("refused: 16 calls are answered at this moment")
                && text.ends_with("hint: try again later"),
            "{text}"
        );
    }
    assert_eq!(server.ask("ping", json!({})), json!({}));
}

#[test]
fn a_client_that_says_everything_at_once_and_hangs_up_is_answered() {
    let fleet = TestFleet::new();
    let mut child = piped(mcp(&fleet, &[]));
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "sh", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fleet_status", "arguments": {}}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // The last line break is missing, as after `printf`.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.trim_end().as_bytes())
        .unwrap();
    let from = BufReader::new(child.stdout.take().unwrap());
    let answers: Vec<Value> = from
        .lines()
        .map(|line| assert_protocol(&line.unwrap()))
        .collect();
    let ids: BTreeSet<u64> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, BTreeSet::from([0, 1, 2]), "{answers:#?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn piped(mut command: Command) -> std::process::Child {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    piped.stderr(Stdio::null()).spawn().unwrap()
}
