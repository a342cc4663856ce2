//! What runs services on this machine: `systemctl`, `launchctl`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Finished, Limits, capture};

use crate::error::CommandError;

/// How long an answer may take that waits for nothing.
pub const ANSWER: Duration = Duration::from_secs(30);
/// How long the daemon may take to be ready, or to end.
pub const READY: Duration = Duration::from_secs(150);

/// What this process and this machine are, as far as services go.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Who we are.
    pub uid: u32,
    /// Where programs are found.
    pub path: Vec<PathBuf>,
    /// Whether systemd runs this machine.
    pub booted: bool,
    /// Where the sockets of this user's session are.
    pub runtime: PathBuf,
}

impl Surroundings {
    /// Looks around.
    pub fn now(environ: &[(std::ffi::OsString, std::ffi::OsString)]) -> Self {
        let uid = nix::unistd::geteuid().as_raw();
        let value = |name: &str| {
            let found = environ.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_os_str())
        };
        let runtime = value("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
        Self {
            uid,
            path: std::env::split_paths(value("PATH").unwrap_or(OsStr::new(""))).collect(),
            // As sd_booted(3) finds it out.
            booted: Path::new("/run/systemd/system").is_dir(),
            runtime: runtime.map_or_else(|| format!("/run/user/{uid}").into(), PathBuf::from),
        }
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        let mut paths = self.path.iter().map(|dir| dir.join(name));
        paths.find(|path| path.is_file())
    }
}

/// A service manager that answers.
#[derive(Debug)]
pub struct Services {
    program: PathBuf,
    /// What is said before everything.
    scope: Vec<&'static str>,
    runtime: PathBuf,
}

impl Services {
    /// systemd, of the whole machine or of this user.
    ///
    /// # Errors
    /// When there is none that would answer, with what to do.
    pub fn systemd(around: &Surroundings, whole_machine: bool) -> Result<Self, CommandError> {
        let Some(program) = around.program("systemctl").filter(|_| around.booted) else {
            return Err(CommandError::failed(
                "systemd does not run this machine: it may be a container",
            )
            .hint("let `carson daemon` be the container's own process (docs/SERVICE.md, \"In a container\")")
            .hint("`carson service print` shows the unit for a machine that has systemd"));
        };
        if !whole_machine {
            own_may_be_asked(around)?;
        }
        Ok(Self {
            program,
            scope: match whole_machine {
                true => Vec::new(),
                false => vec!["--user"],
            },
            runtime: around.runtime.clone(),
        })
    }

    /// launchd of this user.
    ///
    /// # Errors
    /// When there is none.
    pub fn launchd(around: &Surroundings) -> Result<Self, CommandError> {
        let program = around.program("launchctl").ok_or_else(|| {
            CommandError::failed("there is no launchctl here: launchd runs services on macOS")
                .hint("`carson service print --manager launchd` shows the property list")
        })?;
        Ok(Self {
            program,
            scope: Vec::new(),
            runtime: around.runtime.clone(),
        })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// When it cannot be asked, or does not answer in time.
    pub async fn ask(&self, words: &[&str], within: Duration) -> Result<Finished, CommandError> {
        let command = Command::new(&self.program, "/")
            .inherit_env()
            .env("XDG_RUNTIME_DIR", &self.runtime)
            .env("SYSTEMD_COLORS", "0")
            .env("LC_ALL", "C")
            .args(self.scope.iter().copied())
            .args(words.iter().copied());
        let done = capture(&command, &Limits::within(within)).await?;
        if done.stopped.is_some() {
            let asked = self.shown(words);
            return Err(CommandError::failed(format!(
                "`{asked}` did not end within {} s",
                within.as_secs()
            )));
        }
        Ok(done)
    }

    /// The same; it must succeed.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), and when it refuses: with what it said.
    pub async fn must(&self, words: &[&str], within: Duration) -> Result<String, CommandError> {
        let done = self.ask(words, within).await?;
        if done.success() {
            return Ok(done.stdout.text());
        }
        let said = done.stderr.text();
        let asked = self.shown(words);
        Err(CommandError::failed(format!(
            "`{asked}` failed: {}",
            said.trim()
        )))
    }

    /// A command as a person would type it.
    pub fn shown(&self, words: &[&str]) -> String {
        let name = self.program.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let scope = self.scope.iter().copied();
        let all: Vec<&str> = [&*name]
            .into_iter()
            .chain(scope)
            .chain(words.iter().copied())
            .collect();
        all.join(" ")
    }
}

/// Whether a user's own systemd can be asked.
fn own_may_be_asked(around: &Surroundings) -> Result<(), CommandError> {
    if around.uid == 0 {
        return Err(CommandError::usage(
            "this would be a service of root's own, and agents never run as root",
        )
        .hint("name who it runs as: `carson service install --system USER`")
        .hint("or call it as that user, without sudo"));
    }
    let sockets = ["bus", "systemd/private"];
    if !sockets
        .iter()
        .any(|name| around.runtime.join(name).exists())
    {
        return Err(CommandError::failed(format!(
            "your own systemd cannot be reached: there is no bus in {}",
            around.runtime.display()
        ))
        .hint("sign in at the machine or by ssh: `su` and `sudo -u` make no session")
        .hint("or let it run without one, `sudo loginctl enable-linger USER`, and try again")
        .hint("or install one of the whole machine: `sudo carson service install --system USER`"));
    }
    Ok(())
}

/// Whether we may change services of the whole machine.
///
/// # Errors
/// When we are not root.
pub fn must_be_root(around: &Surroundings, verb: &str, user: &str) -> Result<(), CommandError> {
    if around.uid == 0 {
        return Ok(());
    }
    Err(
        CommandError::failed("only root changes services of the whole machine")
            .hint(format!("`sudo carson service {verb} --system {user}`"))
            .hint(format!("or one of your own: `carson service {verb}`")),
    )
}
