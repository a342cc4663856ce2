//! The kernel's walls around what the model runs, where the program stands alone.
//!
//! Commands write the working directory and a home of their own, read the system and the toolchains,
//! and reach nobody unless `--network` says so. Inside a firing Carson's own walls stand already.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use carson_proc::sandbox::{Demand, Network, Profile, Resources, Toolchains, UNMET};
use carson_proc::{Command, Exit, Limits};

use crate::place::Place;
use crate::private_dir::PrivateDir;

/// What of a repository says which programs git runs.
const RUNS: [&str; 5] = ["hooks", "config", "config.worktree", "modules", "commondir"];

/// What one command and all that it starts may use, as a session of a fleet without other bounds.
fn resources() -> Resources {
    Resources {
        processes: Some(2048),
        file_size_mb: Some(4096),
        tree_memory_mb: Resources::usual_tree_memory_mb(),
        ..Resources::default()
    }
}

/// What an operator asks for beside the usual.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Whether commands may reach the network.
    pub network: bool,
    /// What they may read.
    pub read: Vec<PathBuf>,
    /// What they may write.
    pub write: Vec<PathBuf>,
    /// Whether they may write the repository's own files.
    pub git: bool,
}

/// Walls for every command of a run. Clones are the same.
#[derive(Clone, Debug)]
pub struct Walls(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    profile: Profile,
    dir: PrivateDir,
    runs: AtomicU64,
}

/// A command with walls around it; what the launcher needed goes with this.
#[derive(Debug)]
pub struct Walled {
    /// What is to be run.
    pub command: Command,
    profile: PathBuf,
}

impl Walls {
    /// Walls for a directory.
    ///
    /// # Errors
    /// When there is no room for what belongs to them.
    pub fn new(
        place: &Place,
        asked: &Asked,
        user: Option<&Path>,
        path: &OsStr,
    ) -> io::Result<Self> {
        let dir = PrivateDir::new()?;
        let home = dir.path().join("home");
        for made in [&home, &home.join("tmp")] {
            DirBuilder::new().mode(0o700).create(made)?;
        }
        let root = place.root().to_owned();
        let mut read = Profile::system_reads();
        let toolchains = toolchains(user, path);
        read.extend(toolchains.read);
        read.extend(asked.read.iter().cloned());
        // What runs when the operator uses git next is not the model's to write.
        let gits = root.join(".git");
        let gits = match asked.git {
            true => RUNS.map(|name| gits.join(name)).into(),
            false => vec![gits],
        };
        read.extend(gits.into_iter().filter(|path| path.exists()));
        let mut write = vec![root, home];
        write.extend(asked.write.iter().cloned());
        let mut hide = Profile::system_secrets();
        hide.extend(toolchains.hide);
        let profile = Profile {
            demand: Demand::Required,
            read,
            write,
            hide,
            network: match asked.network {
                true => Network::Open,
                false => Network::Nobody,
            },
            resources: resources(),
            ..Profile::default()
        };
        Ok(Self(Rc::new(Shared {
            profile,
            dir,
            runs: AtomicU64::new(0),
        })))
    }

    /// The home of what runs behind them.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.0.dir.path().join("home")
    }

    /// Puts a command behind them.
    ///
    /// # Errors
    /// When they cannot be written down.
    pub fn around(&self, command: Command) -> io::Result<Walled> {
        let n = self.0.runs.fetch_add(1, Ordering::Relaxed);
        let profile = self.0.dir.path().join(format!("{n}.json"));
        self.0.profile.write_to(&profile)?;
        Ok(Walled {
            command: command.confined(&profile),
            profile,
        })
    }

    /// Whether this machine can put them up; `Err` says what it lacks.
    ///
    /// # Errors
    /// When it cannot.
    pub async fn stand(&self, place: &Place) -> Result<(), String> {
        let command = Command::new("/bin/sh", place.root()).args(["-c", ":"]);
        let walled = self.around(command).map_err(|error| error.to_string())?;
        let limits = Limits::within(Duration::from_secs(20));
        let tried = carson_proc::capture(&walled.command, &limits).await;
        let tried = tried.map_err(|error| error.to_string())?;
        match tried.exit {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) if code == i32::from(UNMET) => {
                Err(tried.stderr.text().trim().to_owned())
            }
            other => Err(format!(
                "a trial ended with {other}: {}",
                tried.stderr.text().trim()
            )),
        }
    }
}

impl Drop for Walled {
    fn drop(&mut self) {
        for path in [&self.profile, &Profile::level_path(&self.profile)] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The toolchains of the user.
fn toolchains(user: Option<&Path>, path: &OsStr) -> Toolchains {
    Toolchains::of(user, path, |name| std::env::var_os(name))
}

/// What commands behind walls see: nothing of ours but how to find programs, and what is named.
#[must_use]
pub fn environment(
    walls: &Walls,
    pass: &[String],
    user: Option<&Path>,
) -> Vec<(OsString, OsString)> {
    let usual = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"].map(str::to_owned);
    let ours = usual.iter().chain(pass);
    let mut env: Vec<(OsString, OsString)> = ours
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect();
    let homes = toolchains(user, OsStr::new("")).homes.into_iter();
    env.extend(homes.map(|(variable, home)| (variable.into(), home.into())));
    env.push(("HOME".into(), walls.home().into()));
    env.push(("TMPDIR".into(), walls.home().join("tmp").into()));
    env.push(("TERM".into(), "dumb".into()));
    env
}
