//! The real binary, over real HTTP on loopback, with real walls around what it runs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ends;
mod mcp;
mod protocol;
mod server;
mod terminal;
mod walls;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Cancel, Command, Exit, Limits, run};
use serde_json::Value;

/// Longer than anything here takes, also on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(120);

/// A directory to work in, in one of its own.
pub struct Work {
    dir: tempfile::TempDir,
}

/// How a run of the binary ended.
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
}

impl Work {
    /// With these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let work = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(work.root()).unwrap();
        for (name, text) in files {
            fs::write(work.root().join(name), text).unwrap();
        }
        work
    }

    /// The directory that is worked on.
    pub fn root(&self) -> PathBuf {
        self.outside().join("work")
    }

    /// The directory around it.
    pub fn outside(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// What a file holds now.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// Runs the binary on it, to its own end.
    pub async fn agent(&self, url: &str, args: &[&str]) -> Ran {
        self.agent_until(url, args, &Cancel::new()).await
    }

    /// The same, and asks it to end when `cancel` is told so.
    pub async fn agent_until(&self, url: &str, args: &[&str], cancel: &Cancel) -> Ran {
        let usual = ["--base-url", url, "--model", "scripted", "--workdir"];
        let command = Command::new(env!("CARGO_BIN_EXE_carson-agent"), self.outside())
            .args(usual)
            .arg(self.root())
            .args(args.iter().copied())
            .inherit_env()
            .env("AGENT_TEST_KEY", KEY);
        let limits = Limits::within(LONG);
        let going_on = |_: carson_proc::Line<'_>| ControlFlow::Continue(());
        let done = run(&command, &limits, cancel, going_on).await.unwrap();
        let Exit::Code(code) = done.exit else {
            panic!("{}: {}", done.exit, done.stderr.text())
        };
        Ran {
            code,
            stdout: done.stdout.text(),
            stderr: done.stderr.text(),
        }
    }
}

/// What the endpoint would know us by.
pub const KEY: &str = "zk-Jq8vT2mNw5RxLc7PbD9fHsYt4Ga6Ke3U";

impl Ran {
    /// The last line of standard error.
    pub fn last_line(&self) -> &str {
        self.stderr.lines().last().unwrap_or_default()
    }

    /// The events of `--json`.
    pub fn events(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A file of the test data.
pub fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}
