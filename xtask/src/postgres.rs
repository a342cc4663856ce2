//! A private PostgreSQL server for the length of a test run.
//!
//! It has its data and its socket in a directory of its own, listens on no port, trusts whoever
//! may enter the directory, and is fast because it never waits for the disk. Should we be killed,
//! the kernel tells it to stop, and the next run removes the directory.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};

use crate::interrupt::Interrupt;
use crate::workspace::on_path;

/// Not the temporary directory that the environment names: a socket's path has at most 107 bytes,
/// and the server's own user must be able to enter.
const PARENT: &str = "/tmp";
const PREFIX: &str = "carson-test-postgres-";
const START_DEADLINE: Duration = Duration::from_secs(60);
const STOP_DEADLINE: Duration = Duration::from_secs(10);

/// Settings on the server's command line, where nothing in the data directory overrides them.
const SETTINGS: [&str; 7] = [
    "listen_addresses=",
    "port=5432",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=400",
    "log_min_messages=fatal",
];

/// Those of a server whose speed is measured: what it acknowledged is on the disk, as it is by default.
const DURABLE: [&str; 4] = [
    "listen_addresses=",
    "port=5432",
    "max_connections=400",
    "log_min_messages=fatal",
];

/// A running server. It stops when it is dropped, without a word; [`Self::stop`] reports.
#[derive(Debug)]
pub struct Postgres {
    dir: PathBuf,
    server: Child,
}

impl Postgres {
    /// Makes a cluster and starts a server on it.
    ///
    /// # Errors
    /// When the programs are missing or fail; the server's log is part of the message.
    pub fn start(interrupt: &Interrupt) -> anyhow::Result<Self> {
        let bin = bin_dir().context("PostgreSQL is not installed: no initdb was found")?;
        Self::start_in(interrupt, "", &SETTINGS, |_| Ok(bin))
    }

    /// The same with a server that waits for the disk.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_durable(interrupt: &Interrupt) -> anyhow::Result<Self> {
        let bin = bin_dir().context("PostgreSQL is not installed: no initdb was found")?;
        Self::start_in(interrupt, "-durable", &DURABLE, |_| Ok(bin))
    }

    /// The same with the programs in `bin` of this installation, beside another server. They are copied: the server's own user
    /// need not be able to enter where they lie.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_from(interrupt: &Interrupt, install: &Path, bin: &str) -> anyhow::Result<Self> {
        Self::start_in(interrupt, "-vectors", &SETTINGS, |dir| {
            let own = dir.join("install");
            let mut copy = Command::new("cp");
            interrupt.must(copy.arg("-a").arg(install).arg(&own))?;
            Ok(own.join(bin))
        })
    }

    fn start_in(
        interrupt: &Interrupt,
        which: &str,
        settings: &[&str],
        bin: impl FnOnce(&Path) -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<Self> {
        remove_leftovers();
        let account = Account::find()?;
        let dir = Path::new(PARENT).join(format!("{PREFIX}{}{which}", std::process::id()));
        account.make_dir(&dir)?;
        // From here on the directory has an owner that removes it.
        let log = File::create(dir.join("log")).context("cannot create the server's log")?;
        let spawned = bin(&dir).and_then(|bin| {
            init(interrupt, &account, &bin, &dir)?;
            Ok(serve(&account, &bin, &dir, settings, &log)?)
        });
        match spawned {
            Ok(server) => Self { dir, server }.ready(interrupt),
            Err(error) => {
                let _ = fs::remove_dir_all(&dir);
                Err(error)
            }
        }
    }

    /// The superuser's URL.
    pub fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost/postgres?host={}",
            self.dir.display()
        )
    }

    /// Stops the server and removes its directory.
    ///
    /// # Errors
    /// When it ended by itself before, or does not end.
    pub fn stop(mut self) -> anyhow::Result<()> {
        if let Some(status) = self.server.try_wait()? {
            bail!(
                "the PostgreSQL server ended before the tests ({status}):\n{}",
                self.log()
            );
        }
        let status = self.end()?;
        ensure!(
            status.success(),
            "the PostgreSQL server ended badly ({status}):\n{}",
            self.log()
        );
        Ok(())
    }

    fn ready(mut self, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let deadline = Instant::now() + START_DEADLINE;
        while !is_ready(&self.dir) {
            interrupt.check()?;
            if let Some(status) = self.server.try_wait()? {
                bail!(
                    "the PostgreSQL server did not start ({status}):\n{}",
                    self.log()
                );
            }
            ensure!(
                Instant::now() < deadline,
                "PostgreSQL is not ready in time:\n{}",
                self.log()
            );
            thread::sleep(Duration::from_millis(20));
        }
        Ok(self)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// A fast shutdown, which closes the connections of tests that are still there; then a kill.
    fn end(&mut self) -> anyhow::Result<ExitStatus> {
        let pid = Pid::from_raw(self.server.id().cast_signed());
        let deadline = Instant::now() + STOP_DEADLINE;
        kill(pid, Signal::SIGINT).context("cannot stop the PostgreSQL server")?;
        loop {
            if let Some(status) = self.server.try_wait()? {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                self.server.kill()?;
                return Ok(self.server.wait()?);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Ok(None) = self.server.try_wait()
            && let Err(error) = self.end()
        {
            eprintln!("xtask: {error:#}");
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Where the server's programs are; Debian keeps them off `PATH`, one directory per version.
pub fn bin_dir() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let debian = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    let newest = debian
        .filter(|(_, bin)| has_programs(bin))
        .max()
        .map(|(_, bin)| bin);
    newest.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|dir| has_programs(dir))
    })
}

fn has_programs(bin: &Path) -> bool {
    bin.join("initdb").is_file() && bin.join("postgres").is_file()
}

/// Who the server runs as: it refuses to run as root.
#[derive(Debug)]
enum Account {
    Ourselves,
    Postgres(User),
}

impl Account {
    fn find() -> anyhow::Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::Ourselves);
        }
        let user = User::from_name("postgres")?;
        Ok(Self::Postgres(user.context(
            "there is no user `postgres`, and PostgreSQL refuses to run as root: create the user",
        )?))
    }

    /// A new directory that only this account, and root, may enter.
    fn make_dir(&self, dir: &Path) -> anyhow::Result<()> {
        let context = || format!("cannot create {}", dir.display());
        DirBuilder::new()
            .mode(0o700)
            .create(dir)
            .with_context(context)?;
        if let Self::Postgres(user) = self {
            chown(dir, Some(user.uid), Some(user.gid)).with_context(context)?;
        }
        Ok(())
    }

    /// A program run as this account, in an environment without variables that redirect it.
    fn command(&self, program: &Path) -> Command {
        let mut command = match self {
            // Where there is no setpriv, as on a Mac, the server outlives us if we are killed.
            Self::Ourselves if !on_path("setpriv") => Command::new(program),
            _ => {
                let mut setpriv = Command::new("setpriv");
                setpriv
                    .args(["--pdeathsig", "INT"])
                    .args(self.change_of_user())
                    .arg(program);
                setpriv
            }
        };
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    fn change_of_user(&self) -> Vec<String> {
        match self {
            Self::Ourselves => Vec::new(),
            Self::Postgres(user) => vec![
                format!("--reuid={}", user.uid),
                format!("--regid={}", user.gid),
                "--init-groups".to_owned(),
            ],
        }
    }
}

fn init(interrupt: &Interrupt, account: &Account, bin: &Path, dir: &Path) -> anyhow::Result<()> {
    let mut initdb = account.command(&bin.join("initdb"));
    initdb.args([
        "--auth=trust",
        "--username=postgres",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
    ]);
    initdb
        .args(["--no-sync", "--no-instructions", "--pgdata"])
        .arg(dir.join("data"));
    interrupt.must(
        initdb
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null()),
    )
}

fn serve(
    account: &Account,
    bin: &Path,
    dir: &Path,
    settings: &[&str],
    log: &File,
) -> std::io::Result<Child> {
    let mut postgres = account.command(&bin.join("postgres"));
    postgres.arg("-D").arg(dir.join("data")).arg("-k").arg(dir);
    postgres.args(settings.iter().flat_map(|setting| ["-c", setting]));
    // A group of its own: Ctrl-C must not take the server from under the tests that are ending.
    postgres
        .current_dir(dir)
        .process_group(0)
        .stdin(Stdio::null());
    postgres
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?)
        .spawn()
}

/// The server states its condition in the eighth line of its pid file, for `pg_ctl` and for us.
fn is_ready(dir: &Path) -> bool {
    let pid_file = fs::read_to_string(dir.join("data/postmaster.pid")).unwrap_or_default();
    pid_file
        .lines()
        .nth(7)
        .is_some_and(|status| status.trim() == "ready")
}

/// Removes the directories of runs that were killed.
fn remove_leftovers() {
    for entry in fs::read_dir(PARENT).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if owner.is_some_and(is_gone) {
            // Another user's we cannot remove, and need not.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_gone(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH)
}
