//! APScheduler, the scheduler most Python fleets use, in a private folder.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::idle::pause;
use super::sample::Sample;
use crate::interrupt::Interrupt;
use crate::workspace::Cache;

const VERSION: &str = "3.11.3";

/// Jobs by cron trigger that start a process, and print how late it was there.
const PROGRAM: &str = r#"
import os, subprocess, sys, time
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.executors.pool import ThreadPoolExecutor
roles, spread = int(sys.argv[1]), sys.argv[2] == "spread"
def job():
    due = int(time.time())
    child = subprocess.Popen(["/bin/true"])
    # One write: the threads share the pipe.
    os.write(1, b"%d\n" % int((time.time() - due) * 1e6))
    child.wait()
scheduler = BackgroundScheduler(timezone="UTC", executors={"default": ThreadPoolExecutor(16)})
for role in range(roles):
    second = role * 60 // roles if spread else 30
    scheduler.add_job(job, "cron", second=second, misfire_grace_time=60)
scheduler.start()
time.sleep(100000)
"#;

/// An installed APScheduler.
pub struct Scheduler {
    python: PathBuf,
}

impl Scheduler {
    /// Installs it into the cache.
    pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Self> {
        let dir = cache.dir("apscheduler")?;
        let python = dir.join("bin/python");
        if !dir.join("ready").exists() {
            let mut venv = Command::new("python3");
            interrupt
                .must(venv.args(["-m", "venv"]).arg(&dir))
                .context("python3 -m venv failed (apt-get install python3-venv)")?;
            let mut pip = Command::new(&python);
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]);
            interrupt.must(pip.arg(format!("apscheduler=={VERSION}")))?;
            std::fs::write(dir.join("ready"), VERSION)?;
        }
        Ok(Self { python })
    }

    /// Lets it run for so many seconds; how late its processes were.
    pub fn run(
        &self,
        interrupt: &Interrupt,
        roles: usize,
        spread: bool,
        seconds: u32,
    ) -> anyhow::Result<Sample> {
        let mut child = Command::new(&self.python)
            .args(["-c", PROGRAM, &roles.to_string()])
            .arg(if spread { "spread" } else { "together" })
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let waited = pause(interrupt, seconds);
        child.kill()?;
        let output = child.wait_with_output()?;
        waited?;
        let text = String::from_utf8_lossy(&output.stdout);
        let late = text.lines().filter_map(|line| line.parse().ok());
        Ok(Sample::new(late.map(Duration::from_micros).collect()))
    }
}
