//! The scripted model against the real Claude Code CLI: what every test of a full firing rests on.

#![expect(
    clippy::disallowed_methods,
    reason = "the CLI is run bare here, below carson-proc"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use carson_tests::model::{
    Gate, Message, Reply, ScriptedModel, Window, bash, claude_binary, claude_env, say,
    subscription_limit, subscription_usage, too_many_requests, when, write,
};
use serde_json::Value;
use tempfile::TempDir;

const RESET: i64 = 1_795_240_000;

/// A home, an empty working directory and a model for a few sessions.
struct Desk {
    model: ScriptedModel,
    home: TempDir,
    work: TempDir,
    extra_env: Vec<(&'static str, &'static str)>,
}

/// What one session left behind.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    events: Vec<Value>,
}

impl Desk {
    fn new() -> Self {
        Self {
            model: ScriptedModel::start().unwrap(),
            home: tempfile::tempdir().unwrap(),
            work: tempfile::tempdir().unwrap(),
            extra_env: Vec::new(),
        }
    }

    fn with_env(mut self, name: &'static str, value: &'static str) -> Self {
        self.extra_env.push((name, value));
        self
    }

    /// An OAuth token in place of the key makes the CLI a subscription's.
    fn of_a_subscriber() -> Self {
        Self::new().with_env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-test")
    }

    async fn claude(&self, role: &str, prompt: &str) -> Ended {
        let mut env = claude_env(&self.model, self.home.path());
        if self
            .extra_env
            .iter()
            .any(|(name, _)| *name == "CLAUDE_CODE_OAUTH_TOKEN")
        {
            env.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
        }
        let child = tokio::process::Command::new(claude_binary().unwrap())
            .args(["-p", "--output-format", "stream-json", "--verbose"])
            .args([
                "--model",
                "claude-sonnet-5",
                "--setting-sources",
                "",
                "--strict-mcp-config",
            ])
            .args([
                "--no-session-persistence",
                "--permission-mode",
                "bypassPermissions",
            ])
            .args([
                "--tools",
                "Bash,Write",
                "--append-system-prompt",
                role,
                "--",
                prompt,
            ])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs(env)
            .envs(self.extra_env.iter().copied())
            .current_dir(self.work.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(90), child)
            .await
            .unwrap()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let events = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        Ended {
            code: output.status.code(),
            events,
        }
    }
}

impl Ended {
    fn event(&self, kind: &str) -> Option<&Value> {
        self.events.iter().find(|event| event["type"] == kind)
    }

    fn result(&self) -> &Value {
        self.event("result")
            .unwrap_or_else(|| panic!("no result event: {self:#?}"))
    }

    fn text(&self) -> &str {
        self.result()["result"].as_str().unwrap_or_default()
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_session_says_hello() {
    let desk = Desk::new();
    desk.model.on(
        when().system("greeter"),
        Message::new().text("hello\n[OK]").usage(3300, 140),
    );

    let ended = desk
        .claude("You are the greeter.", "Say hello — in Grüße.")
        .await;

    assert_eq!((ended.code, ended.text()), (Some(0), "hello\n[OK]"));
    assert_eq!(ended.result()["usage"]["input_tokens"], 3300);
    assert_eq!(ended.result()["usage"]["output_tokens"], 140);
    let requests = desk.model.requests();
    assert_eq!(requests.len(), 1, "a side call: {requests:#?}");
    let request = &requests[0];
    assert_eq!(request.path, "/v1/messages?beta=true");
    assert_eq!(request.header("x-api-key"), Some("sk-test"));
    assert_eq!(request.prompt(), "Say hello — in Grüße.");
    assert_eq!(request.model(), "claude-sonnet-5");
    assert_eq!(request.tools(), ["Bash", "Write"]);
    assert_eq!(request.session(), ended.result()["session_id"]);
    let work = desk.work.path().canonicalize().unwrap();
    assert_eq!(request.cwd().as_deref(), work.to_str());
}

#[tokio::test]
async fn a_session_writes_a_file_and_commits_it() {
    let desk = Desk::new();
    let work = desk.work.path();
    git(work, &["init", "--quiet", "--initial-branch=main"]);
    git(
        work,
        &["commit", "--quiet", "--allow-empty", "--message=Begin"],
    );
    let commit = "git add greeting.txt && git -c user.name=Agent -c user.email=agent@localhost \
                  commit --quiet --message='Add a greeting' && git log --oneline | wc -l";
    desk.model.on(
        when(),
        Reply::turns([
            Reply::with(|request| {
                write(
                    format!("{}/greeting.txt", request.cwd().unwrap()),
                    "Grüße\n",
                )
            }),
            Message::new().text("Now the commit.").bash(commit).into(),
            say("Committed.\n[OK]"),
        ]),
    );

    let ended = desk.claude("", "Add a greeting.").await;

    assert_eq!(
        (ended.code, ended.text()),
        (Some(0), "Committed.\n[OK]"),
        "{ended:#?}"
    );
    assert_eq!(git(work, &["show", "HEAD:greeting.txt"]), "Grüße\n");
    assert_eq!(
        git(work, &["log", "-1", "--format=%an %s"]),
        "Agent Add a greeting\n"
    );
    let requests = desk.model.requests();
    assert_eq!(
        requests
            .iter()
            .map(|r| (r.nth, r.turn()))
            .collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 2)]
    );
    let results = requests[2].tool_results();
    assert_eq!(
        (results.len(), results[1].text.as_str()),
        (2, "2"),
        "{results:?}"
    );
    assert!(results.iter().all(|result| !result.is_error));
}

#[tokio::test]
async fn rules_follow_the_tool_results() {
    let desk = Desk::new();
    desk.model
        .on(when().tool_results(0), bash("echo first; exit 3"))
        .on(when().last_result("Exit code 3"), bash("echo second"))
        .on(when().tool_results(2).nth(2), say("[OK]"));

    let ended = desk.claude("", "Try.").await;

    assert_eq!((ended.code, ended.text()), (Some(0), "[OK]"), "{ended:#?}");
    assert!(desk.model.requests()[2].tool_results()[0].is_error);
}

#[tokio::test]
async fn a_long_retry_after_ends_the_session_at_once() {
    let desk = Desk::new();
    desk.model.on(when(), too_many_requests(3600));

    let ended = desk.claude("", "Work.").await;

    assert_eq!(ended.code, Some(1));
    assert_eq!(desk.model.count(), 1);
    let result = ended.result();
    assert_eq!(
        (&result["is_error"], &result["api_error_status"]),
        (&true.into(), &429.into())
    );
}

#[tokio::test]
async fn a_used_up_subscription_tells_when_it_resets() {
    let desk = Desk::of_a_subscriber();
    desk.model.on(when(), subscription_limit(RESET));

    let ended = desk.claude("", "Work.").await;

    assert_eq!(ended.code, Some(1));
    assert_eq!(desk.model.count(), 1);
    let info = &ended.event("rate_limit_event").unwrap()["rate_limit_info"];
    assert_eq!(info["status"], "rejected");
    assert_eq!(info["rateLimitType"], "five_hour");
    assert_eq!(info["resetsAt"], RESET);
    assert_eq!(ended.result()["api_error"], "usage_limit_reached");
}

#[tokio::test]
async fn a_subscription_warns_before_it_is_used_up() {
    let desk = Desk::of_a_subscriber();
    let headers = subscription_usage(Window::SevenDays, 0.92, RESET);
    desk.model.on(when(), say("[OK]").headers(headers));

    let ended = desk.claude("", "Work.").await;

    assert_eq!((ended.code, ended.text()), (Some(0), "[OK]"));
    let info = &ended.event("rate_limit_event").unwrap()["rate_limit_info"];
    assert_eq!(info["status"], "allowed_warning");
    assert_eq!(info["rateLimitType"], "seven_day");
    assert_eq!(info["utilization"], 0.92);
}

#[tokio::test]
async fn a_model_that_never_answers_times_out() {
    let desk = Desk::new()
        .with_env("API_TIMEOUT_MS", "1500")
        .with_env("CLAUDE_CODE_MAX_RETRIES", "0");
    desk.model.on(when(), Reply::Hang);

    let ended = desk.claude("", "Work.").await;

    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.result()["terminal_reason"], "api_error");
    assert!(ended.text().contains("timed out"), "{ended:#?}");
}

#[tokio::test]
async fn a_cut_stream_is_resumed() {
    let desk = Desk::new();
    let cut = Reply::CutStream(Message::new().text("I was about to say something"));
    desk.model
        .on(when(), Reply::requests([cut, say("Resumed.\n[OK]")]));

    let ended = desk.claude("", "Work.").await;

    assert_eq!(
        (ended.code, ended.text()),
        (Some(0), "Resumed.\n[OK]"),
        "{ended:#?}"
    );
    assert_eq!(desk.model.count(), 2);
}

#[tokio::test]
async fn an_overloaded_provider_recovers() {
    let desk = Desk::new();
    let overloaded = Reply::error(529, "overloaded_error", "Overloaded");
    desk.model
        .on(when(), Reply::requests([overloaded, say("[OK]")]));

    let ended = desk.claude("", "Work.").await;

    assert_eq!((ended.code, ended.text()), (Some(0), "[OK]"), "{ended:#?}");
    assert_eq!(
        desk.model
            .requests()
            .iter()
            .map(|r| r.nth)
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

#[tokio::test]
async fn the_second_session_gets_the_second_play() {
    let desk = Desk::new();
    let first = Reply::turns([bash("echo looking"), say("Too vague.\n[REVISE]")]);
    desk.model
        .on(
            when().system("reviewer"),
            Reply::sessions([first, say("[APPROVE]")]),
        )
        .on(
            when().system("planner").prompt("issue 7"),
            say("A plan.\n[OK]"),
        );

    assert_eq!(
        desk.claude("planner", "Plan issue 7.").await.text(),
        "A plan.\n[OK]"
    );
    assert_eq!(
        desk.claude("reviewer", "Review.").await.text(),
        "Too vague.\n[REVISE]"
    );
    assert_eq!(desk.claude("reviewer", "Review.").await.text(), "[APPROVE]");
}

#[tokio::test]
async fn a_hole_in_the_script_is_loud() {
    let desk = Desk::new();
    desk.model.on(when().system("planner"), say("[OK]"));

    let ended = desk.claude("executor", "Do the thing.").await;

    assert_eq!(ended.code, Some(1));
    assert!(ended.text().contains("no rule for turn 0"), "{ended:#?}");
    assert_eq!(desk.model.unmatched()[0].prompt(), "Do the thing.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_reply_waits_for_its_gate() {
    let desk = Desk::new();
    let gate = Gate::new();
    desk.model.on(when(), say("[OK]").held(&gate));

    let asked = |model: &ScriptedModel| {
        model.wait_for(Duration::from_secs(60), |request| {
            request.prompt() == "Work."
        })
    };
    let session = desk.claude("", "Work.");
    tokio::pin!(session);
    let opened = async {
        tokio::task::block_in_place(|| asked(&desk.model)).unwrap();
        gate.open();
    };
    // The session is polled first, so that it is running before the wait for it blocks.
    let (ended, ()) = tokio::join!(&mut session, opened);

    assert_eq!(ended.text(), "[OK]");
}
