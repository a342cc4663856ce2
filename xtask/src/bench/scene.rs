//! A home with one repository, small or large, in which whole firings are measured.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use chrono::DateTime;
use serde_json::Value;

use super::{output, tempdir};
use crate::workspace::outside_cargo;

/// What the sessions do: no model is asked. Who judges approves; who may write commits.
const AGENT: &str = "#!/bin/sh\ncase \"$(cat)\" in *'[APPROVE]'*) echo '[APPROVE]'; exit;; esac\n\
                     { date +%s%N > work.txt && git add work.txt && git commit --quiet -m Work; } 2>/dev/null\n\
                     echo '[OK] done'\n";

/// The same by hand: fetch, a worktree, the work, a push, and the worktree goes.
const BY_HAND: &str = "set -e; git -C \"$1\" fetch --quiet\n\
     git -C \"$1\" worktree add --quiet -b \"$3\" \"$2\" refs/remotes/origin/main\n\
     cd \"$2\"; date +%s%N > work.txt; git add work.txt; git commit --quiet -m Work\n\
     git push --quiet origin \"$3\"; git -C \"$1\" worktree remove --force \"$2\"";

/// A home with one repository and one account, in a temporary directory that goes with it.
pub(super) struct Bench {
    pub(super) root: PathBuf,
    carson: PathBuf,
}

impl Bench {
    pub(super) fn new(carson: &Path, files: usize) -> anyhow::Result<Self> {
        let bench = Self {
            root: tempdir("carson-bench-firing")?,
            carson: carson.to_owned(),
        };
        bench.fill(files)?;
        let agent = bench.root.join("agent");
        fs::write(&agent, AGENT)?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        let home = bench.root.join("home");
        fs::create_dir_all(&home)?;
        let settings = format!(
            "[fleet]\nname = \"bench\"\nzone = \"UTC\"\nmax_firings = 64\n\
             [repos.sample]\nurl = {:?}\nbase = \"main\"\n\
             [accounts.sh]\nengine = \"command\"\nbinary = {agent:?}\n",
            bench.root.join("remote.git")
        );
        fs::write(home.join("carson.toml"), settings)?;
        let promised = "[promise]\nrun = \"true\"\ntimeout = \"5m\"\n";
        for (role, stages, more) in [
            ("plain", "\"execute\"", ""),
            ("promised", "\"execute\", \"verify\"", promised),
            (
                "reviewed",
                "\"plan\", \"review\", \"execute\", \"verify\", \"diff-review\"",
                promised,
            ),
        ] {
            let dir = home.join("roles").join(role);
            fs::create_dir_all(&dir)?;
            let text = format!(
                "title = {role:?}\nrepos = [\"sample\"]\ncadence = [\"0 0 1 1 *\"]\nengines = [\"sh\"]\n\
                 work = {{ from = \"issues\", label = \"for:{role}\" }}\nstages = [{stages}]\n\
                 [limits]\nmax_firings_per_day = 100000\nmax_open_prs = 100000\n{more}"
            );
            fs::write(dir.join("role.toml"), text)?;
        }
        Ok(bench)
    }

    /// A remote with so many files, and a clone for the work by hand.
    fn fill(&self, files: usize) -> anyhow::Result<()> {
        let (remote, seed) = (self.root.join("remote.git"), self.root.join("seed"));
        let git = || {
            let mut git = Command::new("git");
            git.stdin(Stdio::null());
            git
        };
        let init = ["init", "--quiet", "--initial-branch=main"];
        output(git().args(init).arg("--bare").arg(&remote))?;
        output(git().args(init).arg(&seed))?;
        for number in 0..files {
            let dir = seed.join(format!("part-{:03}", number / 100));
            if number % 100 == 0 {
                fs::create_dir_all(&dir)?;
            }
            let text = format!("file {number}\n").repeat(20);
            fs::write(dir.join(format!("file-{number}.txt")), text)?;
        }
        output(git().current_dir(&seed).args(["add", "--all"]))?;
        output(
            git()
                .current_dir(&seed)
                .args(["commit", "--quiet", "-m", "All"]),
        )?;
        let push = ["push", "--quiet"];
        output(git().current_dir(&seed).args(push).arg(&remote).arg("main"))?;
        let clone = self.clone_of_it();
        output(
            git()
                .args(["clone", "--quiet", "--bare"])
                .arg(&remote)
                .arg(&clone),
        )?;
        let fetched = "+refs/heads/*:refs/remotes/origin/*";
        let settings = ["config", "remote.origin.fetch", fetched];
        output(git().arg("-C").arg(&clone).args(settings))?;
        output(git().arg("-C").arg(&clone).args(["fetch", "--quiet"]))?;
        Ok(())
    }

    /// Its home.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// A clone of the remote, without a worktree.
    pub(super) fn clone_of_it(&self) -> PathBuf {
        self.root.join("clone.git")
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = outside_cargo(&self.carson);
        command
            .args(args)
            .env("CARSON_HOME", self.home())
            .stdin(Stdio::null());
        command
    }

    /// How long it took, and how long its workspace.
    pub(super) fn fire(&self, role: &str) -> anyhow::Result<(Duration, Duration)> {
        let label = format!("for:{role}");
        let issue = [
            "issue", "create", "Work", "--body", "To do.", "--label", &label,
        ];
        output(&mut self.command(&issue))?;
        let started = Instant::now();
        let said = output(&mut self.command(&["fire", role, "--json"]))?;
        let took = started.elapsed();
        ensure!(said.contains("\"OK\""), "a firing was not OK: {said}");
        let row: Value = serde_json::from_str(&said)?;
        let id = row["id"].as_str().context("a firing has no id")?;
        let row = output(&mut self.command(&["firings", id, "--json"]))?;
        Ok((took, stage(&serde_json::from_str(&row)?, "workspace")?))
    }

    pub(super) fn by_hand(&self, number: usize) -> anyhow::Result<Duration> {
        self.shell(BY_HAND, &self.root.join("tree"), &format!("work-{number}"))
    }

    pub(super) fn shell(
        &self,
        script: &str,
        tree: &Path,
        branch: &str,
    ) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let mut sh = outside_cargo("/bin/sh");
        sh.args(["-c", script, "sh"])
            .arg(self.clone_of_it())
            .arg(tree)
            .arg(branch)
            .stdin(Stdio::null());
        output(&mut sh)?;
        Ok(started.elapsed())
    }
}

/// How long a stage of a firing took.
pub(super) fn stage(row: &Value, name: &str) -> anyhow::Result<Duration> {
    let mut stages = row["stages"].as_array().into_iter().flatten();
    let stage = stages.find(|stage| stage["name"] == name);
    let stage = stage.with_context(|| format!("a firing had no stage {name}"))?;
    let at = |name: &str| {
        let text = stage[name].as_str().context("a stage has no end")?;
        Ok::<_, anyhow::Error>(DateTime::parse_from_rfc3339(text)?)
    };
    Ok((at("ended_at")? - at("started_at")?).to_std()?)
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
