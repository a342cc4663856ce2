//! The one way to run the `git` program.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Finished, Limits, StopReason, capture, own_path, own_program};

use crate::config::Own;
use crate::error::GitError;
use crate::oid::Oid;
use crate::scratch::Scratch;
use crate::stale;
use crate::timeouts::LOCAL;

/// Bytes of output that are kept; more is an error for every caller that needs all of it.
const KEEP: usize = 32 * 1024 * 1024;

/// So often a command is tried again after locks of the dead were removed; each try names those
/// that it met.
const LOCKS: usize = 5;

/// Overrides on every command: nothing that a repository configured may run, and nothing of the
/// operator's taste may change what is written.
const OVERRIDES: [&str; 17] = [
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    // Git itself leaves loose objects and refs to the kernel. Then the power goes, and a ref that
    // a row names is empty, or leads to an object that is.
    "core.fsync=committed,reference",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
    "advice.addEmbeddedRepo=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "diff.ignoreSubmodules=dirty",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
];

/// What keeps the files away that the machine and the operator configure git with. A filter of
/// theirs, such as git-lfs, would run on what a repository says, and work that they let git ignore
/// would be lost.
const NO_SETTINGS: [(&str, &str); 3] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
];

/// The `GIT_*` variables that are the operator's way to reach a remote. All others are dropped:
/// a daemon that was started from a hook would carry a `GIT_DIR` and an index of somebody else.
const OPERATOR: [&str; 12] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_NO_VERIFY",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_ALLOW_PROTOCOL",
];

/// What every command gets. An askpass that always fails keeps ssh from asking on a terminal.
const FIXED: [(&str, &str); 11] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS", "/bin/false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
    ("GIT_AUTHOR_NAME", "Carson"),
    ("GIT_AUTHOR_EMAIL", "carson@localhost"),
    ("GIT_COMMITTER_NAME", "Carson"),
    ("GIT_COMMITTER_EMAIL", "carson@localhost"),
];

/// Files above which a checkout is worth more than one process.
const MANY: &str = "1000";

/// A git command under construction.
pub(crate) struct Git {
    dir: PathBuf,
    /// Where it works, if not in the repository.
    cwd: Option<PathBuf>,
    verb: String,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    config: Vec<(String, OsString)>,
    stdin: Option<Vec<u8>>,
    limits: Limits,
    /// Whether the operator's settings count.
    settings: bool,
    /// Restored before the command runs.
    own: Option<Own>,
    /// Files that must live as long as the command.
    _holds: Option<Scratch>,
}

impl Git {
    /// `git VERB` on the repository at `dir`.
    pub(crate) fn new(dir: &Path, verb: &str) -> Self {
        Self {
            dir: dir.to_owned(),
            cwd: None,
            verb: verb.to_owned(),
            args: Vec::new(),
            env: vec![("GIT_DIR".into(), dir.into())],
            config: Vec::new(),
            stdin: None,
            // Git leaves no processes behind, but ssh may leave a shared connection on purpose.
            limits: Limits {
                keep: KEEP,
                sweep: false,
                ..Limits::within(LOCAL)
            },
            settings: false,
            own: None,
            _holds: None,
        }
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Works in another directory than the repository.
    pub(crate) fn at(mut self, cwd: &Path) -> Self {
        self.cwd = Some(cwd.to_owned());
        self
    }

    /// Sets a configuration value that shows neither in the arguments nor in a file.
    pub(crate) fn config(mut self, key: &str, value: impl Into<OsString>) -> Self {
        self.config.push((key.to_owned(), value.into()));
        self
    }

    /// Lets all processors write a checkout that has many files.
    pub(crate) fn with_workers(self) -> Self {
        let all = self.config("checkout.workers", "0");
        all.config("checkout.thresholdForParallelism", MANY)
    }

    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Some(bytes);
        self
    }

    pub(crate) fn within(mut self, within: Duration) -> Self {
        self.limits.wall_clock = within;
        self
    }

    /// Reads the operator's settings, which say how a remote is reached: proxies, credential
    /// helpers, other addresses. Not for commands that write a work tree.
    pub(crate) fn with_settings(mut self) -> Self {
        self.settings = true;
        self
    }

    pub(crate) fn owning(mut self, own: Own) -> Self {
        self.own = Some(own);
        self
    }

    pub(crate) fn holding(mut self, file: Scratch) -> Self {
        self._holds = Some(file);
        self
    }

    fn command(&self) -> Command {
        let program = program().unwrap_or_else(|| PathBuf::from("/usr/bin/git"));
        let wanted = self.cwd.as_ref().unwrap_or(&self.dir);
        let cwd = wanted
            .ancestors()
            .find(|dir| dir.is_dir())
            .unwrap_or(Path::new("/"));
        let mut command = Command::new(program, cwd).exact_env(inherited());
        // To git, what stands in the arguments is stronger than what the environment says.
        let is_own = |one: &str| {
            self.config
                .iter()
                .any(|(key, _)| one.starts_with(&format!("{key}=")))
        };
        for one in OVERRIDES.into_iter().filter(|one| !is_own(one)) {
            command = command.arg("-c").arg(one);
        }
        command = command.arg(&self.verb).args(self.args.iter().cloned());
        let none: &[(&str, &str)] = if self.settings { &[] } else { &NO_SETTINGS };
        for (name, value) in FIXED.iter().chain(none) {
            command = command.env(name, value);
        }
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        command = command.env("GIT_CONFIG_COUNT", self.config.len().to_string());
        for (at, (key, value)) in self.config.iter().enumerate() {
            command = command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command = command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        match &self.stdin {
            Some(bytes) => command.stdin_bytes(bytes.clone()),
            None => command,
        }
    }

    /// Runs it, whatever its exit. Output beyond [`keeping`](Self::keeping) is no error here.
    pub(crate) async fn finish(self) -> Result<Finished, GitError> {
        if let Some(own) = &self.own {
            own.restore()?;
        }
        let mut done = capture(&self.command(), &self.limits).await?;
        for _ in 0..LOCKS {
            if done.success() || self.own.is_none() || !stale::clear(&self.dir, &stderr_text(&done))
            {
                break;
            }
            done = capture(&self.command(), &self.limits).await?;
        }
        match done.stopped {
            None | Some(StopReason::OutputCap) => Ok(done),
            Some(_) => Err(GitError::Timeout { verb: self.verb }),
        }
    }

    /// Runs it and gives all that it printed; any exit but 0 is an error.
    pub(crate) async fn bytes(self) -> Result<Vec<u8>, GitError> {
        let verb = self.verb.clone();
        let done = self.finish().await?;
        if done.stopped.is_some() || done.stdout.is_truncated() {
            return Err(GitError::TooMuch { verb });
        }
        if done.success() {
            return Ok(done.stdout.bytes());
        }
        Err(GitError::Failed {
            verb,
            detail: detail(&done),
        })
    }

    /// The same as text.
    pub(crate) async fn text(self) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.bytes().await?).into_owned())
    }
}

/// The `git` program, in a place that no session may write.
#[must_use]
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH");
    own_program(Path::new("git"), path.as_deref())
}

/// Runs a command where there is no runtime, as in the inspector; what it printed.
pub(crate) fn run_here(git: Git) -> Result<Vec<u8>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime
        .block_on(git.bytes())
        .map_err(|error| error.to_string())
}

/// Our environment without what would point git elsewhere, or to helpers of a session's: git starts
/// ssh and its own helpers by their names.
pub(crate) fn inherited() -> Vec<(OsString, OsString)> {
    let ours = |name: &OsStr| {
        let name = name.to_string_lossy();
        !name.starts_with("GIT_") || OPERATOR.contains(&name.as_ref())
    };
    let all = std::env::vars_os().filter(|(name, _)| ours(name));
    all.map(|(name, value)| {
        let value = if name == "PATH" {
            own_path(&value)
        } else {
            value
        };
        (name, value)
    })
    .collect()
}

/// What a command said beside its output.
fn stderr_text(done: &Finished) -> String {
    done.stderr.text()
}

/// The end of what a command said, as one line.
pub(crate) fn detail(done: &Finished) -> String {
    let said = stderr_text(done);
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(4);
    lines[from..].join("; ")
}
/// The object that git named.
pub(crate) fn parse(said: &str) -> Result<Oid, GitError> {
    said.parse().map_err(|detail| GitError::Failed {
        verb: "rev-parse".into(),
        detail,
    })
}
