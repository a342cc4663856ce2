//! What to run.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::marker::{self, Marker};
use crate::sandbox::cgroup::Cgroup;
use crate::sandbox::{ASK_FIRST, First, LAUNCH, Profile, launcher};

/// A program with everything it needs. Nothing is inherited unless it is said.
#[derive(Clone, Debug)]
pub struct Command {
    /// Path of the program, from the working directory if it is relative; never searched for.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its environment.
    pub env: Env,
    /// Its working directory.
    pub cwd: PathBuf,
    /// What it reads.
    pub stdin: Stdin,
    /// How what it prints reaches us.
    pub output: Output,
    /// The walls around it.
    pub confined: Option<Confined>,
}

/// A child's standard output and standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Pipes.
    Pipes,
    /// Sockets: only who inherited one can write to it. A pipe is opened anew through
    /// `/proc/PID/fd/1` by every process of the same user; a socket is not (`ENXIO`). For the same
    /// reason `/dev/stdout` and `/dev/stderr` cannot be opened there.
    Sockets,
}

/// Walls around a child: see [`sandbox`](crate::sandbox).
#[derive(Clone, Debug)]
pub struct Confined {
    /// The file of its [`Profile`](crate::sandbox::Profile). One for each run: what was reached is
    /// written beside it.
    pub profile: PathBuf,
    /// The executable that puts them up: one whose `main` calls
    /// [`launch_if_asked`](crate::sandbox::launch_if_asked).
    pub launcher: PathBuf,
    /// What is asked behind them before the program begins: it does not, and ends with
    /// [`NOT_BEGUN`](crate::sandbox::NOT_BEGUN), when an answer is wrong.
    pub first: Option<First>,
}

/// A child's environment.
#[derive(Clone, Debug)]
pub enum Env {
    /// Ours, plus these.
    Inherit(Vec<(OsString, OsString)>),
    /// These and nothing else.
    Exactly(Vec<(OsString, OsString)>),
}

/// A child's standard input.
#[derive(Clone, Debug)]
pub enum Stdin {
    /// Empty.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is sent while it runs, by [`converse`](crate::converse).
    Sent,
}

impl Command {
    /// A program in a directory, with an empty environment and nothing to read.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Env::Exactly(Vec::new()),
            cwd: cwd.into(),
            stdin: Stdin::Null,
            output: Output::Pipes,
            confined: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        match &mut self.env {
            Env::Inherit(env) | Env::Exactly(env) => env.push((name.into(), value.into())),
        }
        self
    }

    /// Sets the complete environment.
    #[must_use]
    pub fn exact_env(mut self, env: Vec<(OsString, OsString)>) -> Self {
        self.env = Env::Exactly(env);
        self
    }

    /// Inherits our environment.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.env = Env::Inherit(Vec::new());
        self
    }

    /// Gives the child something to read.
    #[must_use]
    pub fn stdin_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Lets nobody write to its output but itself and whom it hands it on to.
    #[must_use]
    pub fn unforgeable_output(mut self) -> Self {
        self.output = Output::Sockets;
        self
    }

    /// Starts it through the launcher, which is our own executable, with the walls of this profile
    /// around it. Only [`run`](crate::run) does that.
    #[must_use]
    pub fn confined(self, profile: impl Into<PathBuf>) -> Self {
        self.confined_by(profile, launcher())
    }

    /// The same, and it begins behind its walls only when these questions were answered as they must be.
    #[must_use]
    pub fn confined_after(self, profile: impl Into<PathBuf>, first: First) -> Self {
        self.behind(Confined {
            profile: profile.into(),
            launcher: launcher(),
            first: Some(first),
        })
    }

    /// Confined through the launcher in another executable, such as that of a test.
    #[must_use]
    pub fn confined_by(self, profile: impl Into<PathBuf>, launcher: impl Into<PathBuf>) -> Self {
        self.behind(Confined {
            profile: profile.into(),
            launcher: launcher.into(),
            first: None,
        })
    }

    fn behind(mut self, walls: Confined) -> Self {
        self.confined = Some(walls);
        self
    }

    /// The control group of a confined run, where there are any.
    pub(crate) fn cgroup(&self, marker: &Marker) -> Option<Cgroup> {
        // A profile that cannot be read is the launcher's to complain of.
        let profile = Profile::read_from(&self.confined.as_ref()?.profile).ok()?;
        let wanted = profile.force.unwrap_or_default().cgroup;
        let name = marker.value().to_str()?;
        wanted.then(|| Cgroup::make(name, &profile.resources))?
    }

    /// How many processes a confined program has left in its namespace, where they died with it.
    pub(crate) fn left(&self) -> u32 {
        let left = || {
            let path = Profile::left_path(&self.confined.as_ref()?.profile);
            let text = std::fs::read_to_string(&path).ok()?;
            let _ = std::fs::remove_file(path);
            text.parse().ok()
        };
        left().unwrap_or(0)
    }

    /// What is started: the program, or the launcher with the program behind its own arguments.
    fn call(&self, cgroup: Option<&Cgroup>) -> (PathBuf, Vec<OsString>) {
        let Some(confined) = &self.confined else {
            return (self.path(), self.args.clone());
        };
        let mut args = vec![OsString::from(LAUNCH)];
        for dir in cgroup.map(Cgroup::dirs).unwrap_or_default() {
            args.extend(["--cgroup".into(), dir.into()]);
        }
        if let Some(first) = &confined.first {
            args.extend([ASK_FIRST.into(), first.as_argument()]);
        }
        args.extend([
            confined.profile.clone().into(),
            "--".into(),
            self.path().into(),
        ]);
        args.extend(self.args.iter().cloned());
        (confined.launcher.clone(), args)
    }

    /// The program as a path: a name without a slash would be searched for.
    fn path(&self) -> PathBuf {
        if self.program.as_os_str().as_bytes().contains(&b'/') {
            return self.program.clone();
        }
        PathBuf::from(".").join(&self.program)
    }

    /// The tokio command: own process group, everything explicit.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the crate that supervises children"
    )]
    pub(crate) fn build(
        &self,
        marker: &Marker,
        cgroup: Option<&Cgroup>,
    ) -> tokio::process::Command {
        let (program, args) = self.call(cgroup);
        let mut command = tokio::process::Command::new(program);
        command.args(args).current_dir(&self.cwd).process_group(0);
        match &self.env {
            Env::Inherit(env) => command.envs(env.iter().cloned()),
            Env::Exactly(env) => command.env_clear().envs(env.iter().cloned()),
        };
        command.env(marker::VARIABLE, marker.value());
        command
    }
}
