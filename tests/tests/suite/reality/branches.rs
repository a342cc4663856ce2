//! The branches of the emulated repository: those of a bare one, to which the fleet pushes. The emulator speaks no
//! git and has commits of its own below the same names, so git answers for it what is asked of branches and
//! commits, and makes the commit of a merge.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

pub struct Branches {
    repository: PathBuf,
    /// The newest commit that each pull request was seen to offer.
    offered: BTreeMap<u64, String>,
    /// What came of each that was merged.
    landed: BTreeMap<u64, String>,
    /// Under which number the emulator keeps the checks of a commit.
    suites: BTreeMap<String, u64>,
}

/// The ends of a pull request: the commits of its base and of its head.
pub struct Ends {
    base: String,
    pub head: String,
}

impl Branches {
    pub fn of(repository: PathBuf) -> Self {
        Self {
            repository,
            offered: BTreeMap::new(),
            landed: BTreeMap::new(),
            suites: BTreeMap::new(),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "GitHub's own git is no program of Carson's"
    )]
    fn run(&self, args: &[&str]) -> Output {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(&self.repository).args(args);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "GitHub");
            git.env(format!("GIT_{who}_EMAIL"), "noreply@github.com");
        }
        git.output().unwrap()
    }

    /// What git prints; `None` when it says no.
    fn git(&self, args: &[&str]) -> Option<String> {
        let output = self.run(args);
        let said = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| said.trim().to_owned())
    }

    fn tip(&self, branch: &str) -> Option<String> {
        self.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")])
    }

    pub fn has(&self, branch: &str) -> bool {
        self.tip(branch).is_some()
    }

    /// The commits of a pull request as the emulator tells it.
    pub fn ends(&mut self, pull: &Value) -> Ends {
        let number = pull["number"].as_u64().unwrap();
        let tip = |end: &str| self.tip(pull[end]["ref"].as_str().unwrap());
        let base = tip("base").unwrap();
        let head = tip("head").filter(|_| !self.landed.contains_key(&number));
        if let Some(head) = head {
            self.offered.insert(number, head);
        }
        let head = self.offered[&number].clone();
        Ends { base, head }
    }

    /// Puts them into it.
    pub fn correct(&mut self, pull: &mut Value) {
        let ends = self.ends(pull);
        let landed = self.landed.get(&pull["number"].as_u64().unwrap());
        pull["merge_commit_sha"] = json!(landed);
        pull["base"]["sha"] = json!(ends.base);
        pull["head"]["sha"] = json!(ends.head);
    }

    /// The same for one that is shown alone, with whether it can be merged.
    pub fn judge(&mut self, pull: &mut Value) {
        self.correct(pull);
        if pull["state"] == "open" {
            let ends = self.ends(pull);
            let clean = self.joined(&ends).is_some();
            pull["mergeable"] = json!(clean);
            pull["mergeable_state"] = json!(if clean { "clean" } else { "dirty" });
        }
    }

    /// The tree of both; `None` when they conflict.
    pub fn joined(&self, ends: &Ends) -> Option<String> {
        self.git(&["merge-tree", "--write-tree", &ends.base, &ends.head])
    }

    /// Brings a pull request into its base; the new commit.
    pub fn merge(&mut self, pull: &Value, (ends, tree): (&Ends, &str), method: &str) -> String {
        let number = pull["number"].as_u64().unwrap();
        let title = format!("{} (#{number})", pull["title"].as_str().unwrap());
        let mut args = vec!["commit-tree", tree, "-m", &title, "-p", &ends.base];
        if method != "squash" {
            args.extend(["-p", &ends.head]);
        }
        let made = self.git(&args).unwrap();
        let base = format!("refs/heads/{}", pull["base"]["ref"].as_str().unwrap());
        self.git(&["update-ref", &base, &made, &ends.base]).unwrap();
        self.landed.insert(number, made.clone());
        made
    }

    /// The commits of a pull request, the oldest first.
    pub fn commits(&self, ends: &Ends) -> Value {
        let range = format!("{}..{}", ends.base, ends.head);
        let log = self.git(&["log", "--reverse", "--format=%H %cI", &range]);
        let log = log.unwrap();
        let commits = log.lines().map(|line| {
            let (sha, date) = line.split_once(' ').unwrap();
            json!({"sha": sha, "commit": {"committer": {"name": "x", "email": "x", "date": date}}})
        });
        commits.collect()
    }

    /// The files that a pull request changes.
    pub fn files(&self, ends: &Ends) -> Value {
        let range = format!("{}...{}", ends.base, ends.head);
        let diff = |how| self.git(&["diff", how, "--no-renames", &range]).unwrap();
        let (sizes, states) = (diff("--numstat"), diff("--name-status"));
        let files = sizes.lines().zip(states.lines()).map(|(size, state)| {
            let size: Vec<&str> = size.split('\t').collect();
            let lines = |text: &str| text.parse::<u64>().unwrap_or_default();
            let status = match state.as_bytes()[0] {
                b'A' => "added",
                b'D' => "removed",
                _ => "modified",
            };
            json!({
                "filename": size[2], "status": status, "additions": lines(size[0]),
                "deletions": lines(size[1]),
            })
        });
        files.collect()
    }

    /// The emulator has begun to keep checks.
    pub fn is_checked(&mut self, run: &Value) {
        let sha = run["head_sha"].as_str().unwrap().to_owned();
        let suite = run["check_suite"]["id"].as_u64().unwrap();
        self.suites.insert(sha, suite);
    }

    /// Where it keeps those of a commit.
    pub fn suite(&self, sha: &str) -> Option<u64> {
        self.suites.get(sha).copied()
    }
}
