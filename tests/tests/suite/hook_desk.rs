//! A desk for the hook's tests with a real agent CLI: real git, a real remote and real files, and a
//! scripted model that tries things. The plays are the same for every CLI.

#![expect(
    clippy::disallowed_methods,
    reason = "the CLI is run bare here, below carson-proc"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use carson_tests::fleet::binary;
use carson_tests::model::{
    Reply, ScriptedModel, ToolResult, claude_binary, claude_env, codex_binary, codex_env, say, when,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The CLI in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cli {
    Claude,
    Codex,
}

/// Full trust: nothing but the hook stands before its tools.
pub const CODEX_ARGS: [&str; 5] = [
    "exec",
    "--ephemeral",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
];

/// A worktree with a remote, something precious outside, and a home with a key.
pub struct Desk {
    cli: Cli,
    pub model: ScriptedModel,
    dir: TempDir,
}

impl Desk {
    pub fn new(cli: Cli) -> Self {
        let desk = Self {
            cli,
            model: ScriptedModel::start().unwrap(),
            dir: tempfile::tempdir().unwrap(),
        };
        for part in ["home/.ssh", "tree/build", "outside/precious", "tmp"] {
            fs::create_dir_all(desk.at(part)).unwrap();
        }
        fs::write(desk.at("home/.ssh/id_rsa"), "canary-2b5c").unwrap();
        fs::write(desk.at("outside/precious/one"), "1").unwrap();
        fs::write(desk.at("outside/install.sh"), "touch installed\n").unwrap();
        fs::write(desk.at("tree/.env"), "TOKEN=canary-2b5c\n").unwrap();
        fs::write(desk.at("tree/.env.example"), "TOKEN=\n").unwrap();
        let remote = desk.at("remote.git");
        let remote = remote.to_str().unwrap();
        desk.git(&["init", "-q", "--bare", "-b", "main", remote]);
        desk.git(&["init", "-q", "-b", "main"]);
        desk.git(&["remote", "add", "origin", remote]);
        desk.git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
        desk.git(&["push", "-q", "origin", "main"]);
        desk.git(&["checkout", "-q", "-b", "topic"]);
        desk.git(&["commit", "-q", "--allow-empty", "-m", "Work"]);
        desk
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.at("tree"))
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(args)
            .env("HOME", self.at("home"))
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// One session with the built hook in which the model makes these calls, one a turn.
    pub async fn try_calls(&self, calls: Vec<Reply>) -> Vec<ToolResult> {
        let hook = binary().with_file_name("carson-hook");
        self.try_with(&format!("'{}'", hook.display()), 10, calls)
            .await
    }

    /// The same with another hook, and the seconds that the CLI waits for it.
    pub async fn try_with(&self, hook: &str, timeout_s: u32, calls: Vec<Reply>) -> Vec<ToolResult> {
        let wanted = calls.len();
        let turns = calls.into_iter().chain([say("[OK]")]);
        self.model.on(when(), Reply::turns(turns));
        let mut command = match self.cli {
            Cli::Claude => self.claude(hook, timeout_s),
            Cli::Codex => self.codex(hook, timeout_s),
        };
        let child = command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("CARSON_WORKTREE", self.at("tree"))
            .env("CARSON_TMP", self.at("tmp"))
            .env("CARSON_BRANCH", "topic")
            .env("CARSON_PROTECTED", "main\nrelease/*")
            .env("CARSON_HOOK_EVENTS", self.at("events.jsonl"))
            .current_dir(self.at("tree"))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(90), child).await;
        let output = output.unwrap().unwrap();
        assert!(output.status.success(), "{output:?}");
        let requests = self.model.requests();
        let results = requests.last().unwrap().tool_results();
        assert_eq!(results.len(), wanted, "{results:#?}");
        results
    }

    fn claude(&self, hook: &str, timeout_s: u32) -> tokio::process::Command {
        let hook = json!({ "type": "command", "command": hook, "timeout": timeout_s });
        let settings =
            json!({ "hooks": { "PreToolUse": [ { "matcher": ".*", "hooks": [hook] } ] } });
        let file = self.at("settings.json");
        fs::write(&file, settings.to_string()).unwrap();
        let mut command = tokio::process::Command::new(claude_binary().unwrap());
        command
            .args(["-p", "--output-format", "stream-json", "--verbose"])
            .args(["--model", "claude-sonnet-5", "--setting-sources", ""])
            .args(["--strict-mcp-config", "--no-session-persistence"])
            .args(["--permission-mode", "bypassPermissions"])
            .args(["--tools", "Bash,Read,Write,Edit,Grep,Glob", "--settings"])
            .arg(file)
            .args(["--", "Do what you must."])
            .env_clear()
            .envs(claude_env(&self.model, &self.at("home")));
        command
    }

    fn codex(&self, hook: &str, timeout_s: u32) -> tokio::process::Command {
        let hook = json!(hook);
        let hooks = format!(
            "hooks.PreToolUse=[{{matcher=\".*\",hooks=[{{type=\"command\",command={hook},\
             timeout={timeout_s}}}]}}]"
        );
        let mut command = tokio::process::Command::new(codex_binary().unwrap());
        command
            .args(CODEX_ARGS)
            .args(["-c", &hooks, "Do what you must."])
            .env_clear()
            .env("HOME", self.at("home"))
            .envs(codex_env(&self.model, &self.at("home/.codex")).unwrap());
        command
    }

    /// The lines of the event file.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.at("events.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// The first `blocked` results are blocked by the rule, the others are of calls that ran, and the event file
/// says the same.
pub fn assert_rule(desk: &Desk, results: &[ToolResult], rule: &str, blocked: usize) {
    for (index, result) in results.iter().enumerate() {
        let named = result.text.contains(&format!("blocked by rule {rule}"));
        let wanted = index < blocked;
        assert_eq!((result.is_error, named), (wanted, wanted), "{results:#?}");
    }
    let rules: Vec<_> = desk
        .events()
        .iter()
        .map(|event| event["rule"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(rules, vec![rule; blocked]);
}
