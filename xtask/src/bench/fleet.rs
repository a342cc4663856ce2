//! A home with roles that find no work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::{output, tempdir};
use crate::workspace::outside_cargo;

/// A home in a temporary directory; goes when it is dropped.
pub struct Fleet {
    root: PathBuf,
    carson: PathBuf,
}

impl Fleet {
    /// Makes a home with these roles (name, cadence).
    pub fn new(carson: &Path, roles: &[(String, String)]) -> anyhow::Result<Self> {
        let root = tempdir("carson-bench")?;
        let fleet = Self {
            carson: carson.to_owned(),
            root,
        };
        let remote = fleet.root.join("remote.git");
        output(
            Command::new("git")
                .args(["init", "--quiet", "--bare"])
                .arg(&remote),
        )?;
        let home = fleet.home();
        fs::create_dir_all(home.join("roles"))?;
        fs::write(fleet.root.join("play.toml"), "when = []\n")?;
        fs::write(
            home.join("carson.toml"),
            format!(
                "[fleet]\nname = \"bench\"\nzone = \"UTC\"\nmax_firings = 1000\n\
                 [repos.sample]\nurl = {remote:?}\n\
                 [accounts.play]\nengine = \"rehearsal\"\nscript = {:?}\n",
                fleet.root.join("play.toml")
            ),
        )?;
        for (name, cadence) in roles {
            let dir = home.join("roles").join(name);
            fs::create_dir_all(&dir)?;
            fs::write(
                dir.join("role.toml"),
                format!(
                    "title = {name:?}\nrepos = [\"sample\"]\ncadence = [{cadence:?}]\n\
                     engines = [\"play\"]\nwork = {{ from = \"issues\", label = \"{name}\" }}\n\
                     [limits]\nmax_firings_per_day = 100000\n"
                ),
            )?;
        }
        Ok(fleet)
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// `carson ARGS` in this home.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = outside_cargo(&self.carson);
        command
            .args(args)
            .env("CARSON_HOME", self.home())
            .stdin(Stdio::null());
        command
    }

    /// Starts the daemon with its log in a file.
    pub fn daemon(&self) -> anyhow::Result<Daemon> {
        self.daemon_that_says("info")
    }

    /// The same, with a say in what the log holds.
    pub fn daemon_that_says(&self, filter: &str) -> anyhow::Result<Daemon> {
        let log = self.root.join("daemon.log");
        let mut command = self.command(&["daemon"]);
        command
            .env("CARSON_LOG", filter)
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?);
        Ok(Daemon {
            child: command.spawn()?,
            log,
        })
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A running daemon; killed when it is dropped.
pub struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    pub fn log(&self) -> anyhow::Result<String> {
        Ok(fs::read_to_string(&self.log)?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
