//! The program: exit codes, the line on stderr, the event file, the watchdog, large input.

#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "the hook is tested as the agent CLIs run it: as a process"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use carson_hook::{Context, Exit, known_bad_call, known_good_call, main_with};

/// A directory of this test's own.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("carson-hook-{name}-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("wt")).unwrap();
        std::fs::create_dir_all(dir.join("tmp")).unwrap();
        Self(dir.canonicalize().unwrap())
    }

    fn path(&self, rest: &str) -> String {
        self.0.join(rest).to_str().unwrap().to_owned()
    }

    fn events(&self) -> String {
        std::fs::read_to_string(self.0.join("events")).unwrap_or_default()
    }

    fn start(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_carson-hook"))
            .env_clear()
            .env("CARSON_WORKTREE", self.path("wt"))
            .env("CARSON_TMP", self.path("tmp"))
            .env("CARSON_BRANCH", "carson/7-fix")
            .env("CARSON_HOOK_EVENTS", self.path("events"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn ask(&self, event: &str) -> Output {
        let mut child = self.start();
        let mut stdin = child.stdin.take().unwrap();
        let event = event.to_owned();
        let writer = std::thread::spawn(move || {
            // The hook may end before it has read everything.
            let _ = stdin.write_all(event.as_bytes());
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    fn context(&self) -> Context {
        let mut ctx = Context::new(&self.path("wt"));
        ctx.events = Some(self.0.join("events"));
        ctx
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn bash(command: &str, cwd: &str) -> String {
    let text = command
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!(
        r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{text}","description":"d"}},"cwd":"{cwd}"}}"#
    )
}

#[test]
fn exit_codes_reason_and_event() {
    let place = Place::new("codes");
    let bad = place.ask(&known_bad_call(&place.context()));
    assert_eq!(bad.status.code(), Some(2));
    let reason = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(reason.lines().count(), 1, "{reason}");
    assert!(
        reason.starts_with("carson: blocked by rule protected-push: "),
        "{reason}"
    );
    assert!(reason.contains("pull request"), "{reason}");
    assert!(bad.stdout.is_empty());

    let good = place.ask(&known_good_call(&place.context()));
    assert_eq!(good.status.code(), Some(0));
    assert!(good.stderr.is_empty() && good.stdout.is_empty());

    let events = place.events();
    assert_eq!(events.lines().count(), 1, "{events}");
    assert!(
        events.contains(r#""event":"blocked","rule":"protected-push","tool":"Bash""#),
        "{events}"
    );
    assert!(
        events.contains(r#""call":"git push --force origin main""#),
        "{events}"
    );
}

#[test]
fn the_three_protocols() {
    let place = Place::new("protocols");
    let wt = place.path("wt");
    for (event, code) in [
        (bash("rm -rf /", &wt), 2),
        (bash("rm -rf target", &wt), 0),
        (
            format!(
                r#"{{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{{"command":"rm -rf /"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{{"absolute_path":"{wt}/.env"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"Read","tool_input":{{"file_path":"/root/.ssh/id_rsa"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"Read","tool_input":{{"file_path":"{wt}/.env.example"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"Edit","tool_input":{{"file_path":".env","old_string":"a","new_string":"b"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"Write","tool_input":{{"file_path":"{wt}/x.sh","content":"rm -rf / && cat ~/.ssh/id_rsa"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"Edit","tool_input":{{"file_path":"{wt}/a.md","old_string":".env","new_string":"~/.ssh/id_rsa"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"Grep","tool_input":{{"pattern":"\\.env","path":"src"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"Grep","tool_input":{{"pattern":"x","path":"/root/.ssh"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"Grep","tool_input":{{"pattern":"x","glob":".env*"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(r#"{{"tool_name":"Glob","tool_input":{{"pattern":"**/*.rs"}},"cwd":"{wt}"}}"#),
            0,
        ),
        (
            format!(r#"{{"tool_name":"Glob","tool_input":{{"pattern":"**/.env"}},"cwd":"{wt}"}}"#),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"WebFetch","tool_input":{{"url":"http://169.254.169.254/latest"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"WebFetch","tool_input":{{"url":"https://docs.example/x"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"apply_patch","tool_input":{{"command":"*** Begin Patch\n*** Update File: .env\n*** End Patch"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"apply_patch","tool_input":{{"command":"*** Begin Patch\n*** Add File: x.sh\n+rm -rf /\n*** End Patch"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"apply_patch","tool_input":{{"command":"*** Begin Patch\n*** Delete File: /etc/x\n*** End Patch"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"mcp__files__read_file","tool_input":{{"path":"/root/.aws/credentials"}},"cwd":"{wt}"}}"#
            ),
            2,
        ),
        (
            format!(
                r#"{{"tool_name":"TodoWrite","tool_input":{{"todos":[{{"content":"rm -rf /"}}]}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
        (
            format!(
                r#"{{"tool_name":"Task","tool_input":{{"prompt":"cat ~/.ssh/id_rsa"}},"cwd":"{wt}"}}"#
            ),
            0,
        ),
    ] {
        let output = place.ask(&event);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{event}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn an_event_it_cannot_read_lets_the_call_run_and_says_so() {
    for (name, event) in [
        ("empty", String::new()),
        ("garbage", "not json".to_owned()),
        ("no-tool", "{}".to_owned()),
        ("deep", "[".repeat(100_000)),
    ] {
        let place = Place::new(name);
        let output = place.ask(&event);
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert!(
            place
                .events()
                .starts_with(r#"{"event":"hook_failed_open","reason":"reading the event: "#),
            "{name}: {}",
            place.events()
        );
    }
}

#[test]
fn a_stuck_input_ends_by_the_watchdog() {
    let place = Place::new("watchdog");
    let began = Instant::now();
    let mut child = place.start();
    // Keeping the pipe open without a word is the hang.
    let stdin = child.stdin.take().unwrap();
    let status = wait(&mut child, Duration::from_secs(10));
    drop(stdin);
    assert_eq!(status, Some(0));
    assert!(began.elapsed() >= Duration::from_millis(500));
    assert!(
        place.events().contains("hook_failed_open"),
        "{}",
        place.events()
    );
    assert!(place.events().contains("500 ms"), "{}", place.events());
}

#[test]
fn what_is_too_much_for_the_coarse_pass_ends_by_its_deadline() {
    let place = Place::new("deadline");
    let event = bash(&"a|".repeat(8_000_000), &place.path("wt"));
    let mut child = place.start();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // The hook may end before it has read everything.
        let _ = stdin.write_all(event.as_bytes());
    });
    // Without a deadline this takes several times as long.
    let status = wait(&mut child, Duration::from_secs(10));
    writer.join().unwrap();
    assert_eq!(status, Some(0));
    assert!(place.events().contains("800 ms"), "{}", place.events());
}

fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::yield_now();
    }
    let _ = child.kill();
    None
}

#[test]
fn a_megabyte_is_answered() {
    let place = Place::new("large");
    let wt = place.path("wt");
    let content = "rm -rf / ; ".repeat(100_000);
    let write = format!(
        r#"{{"tool_name":"Write","tool_input":{{"file_path":"{wt}/x","content":"{content}"}},"cwd":"{wt}"}}"#
    );
    let output = place.ask(&write);
    assert_eq!(output.status.code(), Some(0));
    let heredoc = format!("cat > x <<'EOF'\n{}\nEOF", "rm -rf /\n".repeat(110_000));
    let output = place.ask(&bash(&heredoc, &wt));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(place.events(), "", "answered, not timed out");
    let hidden = format!("cat > x <<'EOF'\n{}\nEOF\nrm -rf /", "x\n".repeat(500_000));
    let output = place.ask(&bash(&hidden, &wt));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn bytes_that_are_no_utf8_do_not_open_the_hook() {
    let place = Place::new("bytes");
    let mut child = place.start();
    let event = bash("echo @ && rm -rf /", &place.path("wt"));
    let (head, tail) = event.split_once('@').unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for part in [head.as_bytes(), b"\xff\xfe", tail.as_bytes()] {
        stdin.write_all(part).unwrap();
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_block_stands_when_the_event_file_cannot_be_written() {
    let place = Place::new("noevents");
    let mut ctx = place.context();
    ctx.events = Some(PathBuf::from("/nonexistent/events"));
    let mut out = Vec::new();
    let exit = main_with(&mut known_bad_call(&ctx).as_bytes(), &ctx, &mut out);
    assert_eq!(exit, Exit::Block);
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("cannot write the event file /nonexistent/events"),
        "{text}"
    );
    assert!(!Path::new("/nonexistent").exists());
}

#[test]
fn parallel_hooks_do_not_mix_their_events() {
    let place = Place::new("parallel");
    let long = "x".repeat(250);
    let mut children: Vec<_> = (0..16).map(|_| place.start()).collect();
    for (index, child) in children.iter_mut().enumerate() {
        let event = bash(&format!("rm -rf /{index}{long}"), &place.path("wt"));
        child
            .stdin
            .take()
            .unwrap()
            .write_all(event.as_bytes())
            .unwrap();
    }
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
    let events = place.events();
    assert_eq!(events.lines().count(), 16);
    assert!(
        events
            .lines()
            .all(|line| line.starts_with("{\"event\":\"blocked\"") && line.ends_with("\"}")),
        "{events}"
    );
}
