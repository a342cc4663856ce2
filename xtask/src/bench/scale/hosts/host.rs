//! One host: its daemon, and what becomes of it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::processes;
use super::site::Site;

/// How soon a service manager starts a daemon again that ended by itself.
const RESTART: Duration = Duration::from_secs(2);

/// How it is.
enum State {
    Runs(Child),
    /// Its daemon is not there until then; firings may be.
    Without(Instant),
    Frozen(Child, Instant),
}

/// A host of the site.
pub struct Host {
    pub name: &'static str,
    dir: PathBuf,
    state: State,
    /// How long its log was when its daemon was started.
    log_before: u64,
    /// What its daemon said when it ended by itself.
    pub ended_by_itself: Vec<String>,
}

impl Host {
    pub fn start(site: &Site, name: &'static str) -> anyhow::Result<Self> {
        let mut host = Self {
            name,
            dir: site.host(name),
            state: State::Without(Instant::now()),
            log_before: 0,
            ended_by_itself: Vec::new(),
        };
        host.tick(site)?;
        Ok(host)
    }

    /// Whether it is there as it should be: its daemon was started, and nothing is frozen.
    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Runs(_))
    }

    /// Whether its daemon has come as far as to look at slots.
    pub fn has_started(&self) -> bool {
        let start = usize::try_from(self.log_before).unwrap_or(usize::MAX);
        let log = fs::read(self.log()).unwrap_or_default();
        let said = String::from_utf8_lossy(log.get(start..).unwrap_or_default());
        self.is_up() && said.contains("daemon started")
    }

    /// Starts again, or lets go on, what is due for that.
    pub fn tick(&mut self, site: &Site) -> anyhow::Result<()> {
        let now = Instant::now();
        match &mut self.state {
            State::Runs(child) => {
                if let Some(status) = child.try_wait()? {
                    self.ended_by_itself.push(format!(
                        "{} ({status}): {}",
                        self.name,
                        self.last_words()
                    ));
                    self.state = State::Without(now + RESTART);
                }
            }
            State::Without(until) if *until <= now => {
                let child = self.daemon(site)?;
                self.state = State::Runs(child);
            }
            State::Frozen(_, until) if *until <= now => self.thaw(),
            State::Without(_) | State::Frozen(..) => {}
        }
        Ok(())
    }

    /// Kills its daemon alone, which comes back after so long.
    pub fn kill_daemon(&mut self, back: Duration) -> anyhow::Result<()> {
        if let State::Runs(child) = &mut self.state {
            child.kill()?;
            child.wait()?;
            self.state = State::Without(Instant::now() + back);
        }
        Ok(())
    }

    /// Everything on it ends at once; its daemon comes back after so long.
    pub fn die(&mut self, back: Duration) -> anyhow::Result<()> {
        processes::end(&self.dir);
        self.kill_daemon(back)
    }

    /// Everything on it stands still for so long.
    pub fn freeze(&mut self, time: Duration) {
        let after = State::Without(Instant::now());
        self.state = match std::mem::replace(&mut self.state, after) {
            State::Runs(child) => {
                processes::freeze(&self.dir);
                State::Frozen(child, Instant::now() + time)
            }
            other => other,
        };
    }

    /// Lets it go on, and its daemon come back, at once.
    pub fn hurry(&mut self, site: &Site) -> anyhow::Result<()> {
        match &mut self.state {
            State::Frozen(_, until) | State::Without(until) => *until = Instant::now(),
            State::Runs(_) => {}
        }
        self.tick(site)
    }

    /// Tells its daemon to end, and waits for that; firings go on.
    pub fn stop(&mut self, patience: Duration) -> anyhow::Result<()> {
        if let State::Runs(child) = &mut self.state {
            kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM)?;
            let began = Instant::now();
            while child.try_wait()?.is_none() {
                anyhow::ensure!(
                    began.elapsed() < patience,
                    "the daemon of {} does not end when it is told to",
                    self.name
                );
                std::thread::sleep(Duration::from_millis(50));
            }
            // It is not started again.
            self.state = State::Without(Instant::now() + Duration::from_secs(86_400));
        }
        Ok(())
    }

    fn daemon(&mut self, site: &Site) -> anyhow::Result<Child> {
        let log = File::options().create(true).append(true).open(self.log())?;
        self.log_before = log.metadata()?.len();
        let mut command = site.command(self.name, &["daemon"]);
        command.env("CARSON_LOG", "info").stdout(Stdio::null());
        let daemon = command.stderr(log).spawn();
        daemon.with_context(|| format!("starting the daemon of {}", self.name))
    }

    fn thaw(&mut self) {
        processes::thaw(&self.dir);
        let after = State::Without(Instant::now());
        if let State::Frozen(child, _) = std::mem::replace(&mut self.state, after) {
            self.state = State::Runs(child);
        }
    }

    fn log(&self) -> PathBuf {
        self.dir.join("daemon.log")
    }

    fn last_words(&self) -> String {
        let log = fs::read(self.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        log.lines().next_back().unwrap_or_default().to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        processes::end(&self.dir);
        if let State::Runs(child) | State::Frozen(child, _) = &mut self.state {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
