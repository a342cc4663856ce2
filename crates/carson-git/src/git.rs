//! The one way to run the `git` program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Finished, Limits, capture, find_on_path};

use crate::error::GitError;

/// How long a local command may take.
pub(crate) const LOCAL: Duration = Duration::from_secs(120);
/// How long a fetch or a push may take.
pub(crate) const REMOTE: Duration = Duration::from_secs(300);

/// Overrides on every command: nothing that a repository or the operator configured may run.
const OVERRIDES: [&str; 7] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
];

/// A git command under construction.
pub(crate) struct Git {
    dir: PathBuf,
    verb: String,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    within: Duration,
}

impl Git {
    /// `git VERB` on the repository at `dir`.
    pub(crate) fn new(dir: &Path, verb: &str) -> Self {
        Self {
            dir: dir.to_owned(),
            verb: verb.to_owned(),
            args: Vec::new(),
            env: vec![("GIT_DIR".into(), dir.into())],
            within: LOCAL,
        }
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<const N: usize>(mut self, args: [&str; N]) -> Self {
        self.args.extend(args.into_iter().map(OsString::from));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Runs it, whatever its exit.
    pub(crate) async fn finish(self) -> Result<Finished, GitError> {
        let path = std::env::var_os("PATH");
        let program = find_on_path(Path::new("git"), path.as_deref())
            .unwrap_or_else(|| PathBuf::from("/usr/bin/git"));
        let cwd = self
            .dir
            .ancestors()
            .find(|dir| dir.is_dir())
            .unwrap_or(Path::new("/"));
        let mut command = Command::new(program, cwd).inherit_env();
        for one in OVERRIDES {
            command = command.arg("-c").arg(one);
        }
        command = command
            .arg(&self.verb)
            .args(self.args)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .env("GIT_AUTHOR_NAME", "Carson")
            .env("GIT_AUTHOR_EMAIL", "carson@localhost")
            .env("GIT_COMMITTER_NAME", "Carson")
            .env("GIT_COMMITTER_EMAIL", "carson@localhost");
        for (name, value) in self.env {
            command = command.env(name, value);
        }
        let limits = Limits {
            keep: 32 * 1024 * 1024,
            ..Limits::within(self.within)
        };
        let done = capture(&command, &limits).await?;
        match done.stopped {
            Some(_) => Err(GitError::Timeout { verb: self.verb }),
            None => Ok(done),
        }
    }

    /// Runs it and gives what it printed; any exit but 0 is an error.
    pub(crate) async fn text(self) -> Result<String, GitError> {
        let verb = self.verb.clone();
        let done = self.finish().await?;
        if done.success() {
            return Ok(done.stdout.text());
        }
        Err(GitError::Failed {
            verb,
            detail: detail(&done),
        })
    }

    /// Runs it; whether it exited 0.
    pub(crate) async fn succeeds(self) -> Result<bool, GitError> {
        Ok(self.finish().await?.success())
    }
}

/// The end of what a command said, as one line.
pub(crate) fn detail(done: &Finished) -> String {
    let said = done.stderr.text();
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(4);
    lines[from..].join("; ")
}
