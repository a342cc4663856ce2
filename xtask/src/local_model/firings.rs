//! Whole firings of roles whose account is the agent at that endpoint.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use super::checkout::{self, CHECK, TASK};
use super::endpoint::Endpoint;
use crate::bench::{output, tempdir};

/// A firing.
pub(super) struct Firing {
    name: &'static str,
    model: &'static str,
    stages: &'static str,
}

/// All of them.
pub(super) const FIRINGS: &[Firing] = &[
    Firing {
        name: "a firing of every stage, calls in words",
        model: "smollm2-words",
        stages: "[\"plan\", \"review\", \"execute\", \"verify\", \"diff-review\"]",
    },
    Firing {
        name: "a firing that executes, calls by grammar",
        model: "smollm2-calls",
        stages: "[\"execute\", \"verify\"]",
    },
];

/// The most that a firing may do.
const LIMITS: &str = "[limits]\nmax_turns = 6\nmax_turns_read = 3\nmax_tool_calls = 8\nmax_attempts = 2\n\
                      wall_clock = \"8m\"\nmax_cost_usd = 1.0\n";
/// Sessions of the longest firing: plan, its review, a revision and its review, two attempts, a diff review, its
/// fix and its review, and one that confirms that nothing was to be done.
const SESSIONS: u64 = 10;

struct Scene<'s> {
    root: PathBuf,
    carson: &'s Path,
}

impl Firing {
    /// Fires, and prints what was seen; what did not hold.
    pub(super) fn record(&self, carson: &Path, endpoint: &Endpoint) -> anyhow::Result<Vec<String>> {
        let scene = Scene {
            root: tempdir("carson-local-firing")?,
            carson,
        };
        scene.fill(self, endpoint)?;
        let main = scene.main()?;
        let issue = [
            "issue",
            "create",
            "Mend add.sh",
            "--label",
            "carson:ready",
            "--body",
            TASK,
        ];
        output(&mut scene.command(&issue))?;
        let started = Instant::now();
        let fired = scene.command(&["fire", "hand", "--json"]).output()?;
        let took = started.elapsed();
        let said: Value = serde_json::from_slice(&fired.stdout).context("`fire --json`")?;
        let id = said["id"]
            .as_str()
            .with_context(|| format!("no firing: {said}"))?;
        let row = output(&mut scene.command(&["firings", id, "--json"]))?;
        let row: Value = serde_json::from_str(&row)?;
        let used = output(&mut scene.command(&["usage", "--json"]))?;
        let used: Value = serde_json::from_str(&used)?;
        println!("\n{}", self.name);
        println!(
            "  {} ({}) after {:.1} s: {} sessions, {} turns, {} + {} tokens, exit {:?}",
            row["outcome"].as_str().unwrap_or_default(),
            row["reason"].as_str().unwrap_or_default(),
            took.as_secs_f32(),
            row["sessions"],
            row["turns"],
            row["tokens_in"],
            row["tokens_out"],
            fired.status.code()
        );
        let broken = scene.broken(&row, fired.status.code(), &main, &used["used"])?;
        Ok(broken
            .iter()
            .map(|what| format!("{}: {what}", self.name))
            .collect())
    }
}

impl Scene<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.carson);
        command
            .args(args)
            .env("CARSON_HOME", self.root.join("home"))
            .stdin(Stdio::null());
        command
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Nobody"),
            ("GIT_AUTHOR_EMAIL", "nobody@localhost"),
            ("GIT_COMMITTER_NAME", "Nobody"),
            ("GIT_COMMITTER_EMAIL", "nobody@localhost"),
        ] {
            git.env(name, value);
        }
        git.stdin(Stdio::null());
        git
    }

    fn remote(&self) -> PathBuf {
        self.root.join("remote.git")
    }

    /// A remote, and a home with one role.
    fn fill(&self, firing: &Firing, endpoint: &Endpoint) -> anyhow::Result<()> {
        let (seed, home) = (self.root.join("seed"), self.root.join("home"));
        checkout::fill(&seed)?;
        let init = ["init", "--quiet", "--initial-branch=main"];
        output(self.git().args(init).arg("--bare").arg(self.remote()))?;
        output(self.git().args(init).arg(&seed))?;
        output(self.git().current_dir(&seed).args(["add", "--all"]))?;
        output(
            self.git()
                .current_dir(&seed)
                .args(["commit", "--quiet", "-m", "All"]),
        )?;
        let push = ["push", "--quiet"];
        output(
            self.git()
                .current_dir(&seed)
                .args(push)
                .arg(self.remote())
                .arg("main"),
        )?;
        fs::create_dir_all(home.join("roles/hand"))?;
        let agent = self.carson.with_file_name("carson-agent");
        let settings = format!(
            "[fleet]\nname = \"local\"\nzone = \"UTC\"\n[repos.sums]\nurl = {:?}\nbase = \"main\"\n\
             [accounts.local]\nengine = \"agent\"\nbinary = {agent:?}\nmodel = {:?}\n\
             env = {{ OPENAI_BASE_URL = {:?} }}\n",
            self.remote(),
            firing.model,
            endpoint.base_url()
        );
        fs::write(home.join("carson.toml"), settings)?;
        let role = format!(
            "repos = [\"sums\"]\ncadence = []\nengines = [\"local\"]\nstages = {}\n\
             work = {{ from = \"issues\", label = \"carson:ready\" }}\n{LIMITS}\
             [promise]\nrun = {CHECK:?}\n",
            firing.stages
        );
        fs::write(home.join("roles/hand/role.toml"), role)?;
        Ok(())
    }

    fn main(&self) -> anyhow::Result<String> {
        let tip = ["rev-parse", "refs/heads/main"];
        output(self.git().arg("-C").arg(self.remote()).args(tip))
    }

    /// What did not hold of a firing that is over.
    fn broken(
        &self,
        row: &Value,
        code: Option<i32>,
        main: &str,
        used: &Value,
    ) -> anyhow::Result<Vec<String>> {
        let mut broken = Vec::new();
        let outcome = row["outcome"].as_str().unwrap_or_default();
        let expected = match outcome {
            "OK" | "SILENT" | "ALREADY_DONE" => 0,
            "PARTIAL" | "NO_COMMIT" => 10,
            "BLOCKED" => 11,
            "REJECTED" => 12,
            "FAILED" => 13,
            "TIMED_OUT" => 14,
            // None of these is what a model that is bad at the job ends with.
            _ => -1,
        };
        if code != Some(expected) {
            broken.push(format!("{outcome} with exit code {code:?}"));
        }
        if row["ended_at"].is_null() || row["sessions"].as_u64() > Some(SESSIONS) {
            broken.push(format!(
                "{} sessions, ended {}",
                row["sessions"], row["ended_at"]
            ));
        }
        if used[0]["sessions"] != row["sessions"] || used[0]["account"] != "local" {
            broken.push(format!("`carson usage` tells of other sessions: {used}"));
        }
        if self.main()? != main {
            broken.push("main is another one".to_owned());
        }
        let benches = fs::read_dir(self.root.join("home/benches"))?.count();
        if benches > 0 {
            broken.push(format!("{benches} benches are left"));
        }
        let left = left_behind(&self.root)?;
        if left > 0 {
            broken.push(format!("{left} processes are left"));
        }
        Ok(broken)
    }
}

/// Processes that work in a directory, or below it.
fn left_behind(dir: &Path) -> anyhow::Result<usize> {
    let processes = fs::read_dir("/proc").context("this needs /proc")?;
    let cwd =
        |item: std::io::Result<fs::DirEntry>| fs::read_link(item.ok()?.path().join("cwd")).ok();
    Ok(processes
        .filter_map(cwd)
        .filter(|cwd| cwd.starts_with(dir))
        .count())
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
