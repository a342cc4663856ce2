//! The kernel's walls around task and promise, where the caller asks for them.
//!
//! They write the tree, a temporary directory of their own, where the agent CLI of the task keeps its sign-in, and what
//! is named; they read the system, the toolchains, and what is named. The loop's own files are read-only for them, and so
//! is what of a repository says which programs git runs. The network is open: an agent talks to its provider.
//!
//! Those around a promise that anybody may ask ([`Walls::closed`]) are narrower: it writes nothing but its temporary
//! directory, and talks to nobody.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use carson_core::EngineKind;
use carson_proc::sandbox::{Demand, Network, Profile, Resources, Toolchains, UNMET};
use carson_proc::{Command, Exit, Limits};

use crate::caller::Caller;
use crate::error::LoopError;
use crate::place::Place;
use crate::tree::GitDir;
use crate::words::Words;

/// What of a repository says which programs git runs.
const RUNS: [&str; 5] = ["hooks", "config", "config.worktree", "modules", "commondir"];

/// What is reached beside the usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// What may be read.
    pub read: Vec<PathBuf>,
    /// What may be written.
    pub write: Vec<PathBuf>,
}

/// Walls for every command of a run.
#[derive(Debug)]
pub struct Walls {
    profile: Profile,
    /// A private directory, which goes with us.
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    runs: AtomicU64,
}

/// The profile of one run; goes with what the launcher writes beside it.
#[derive(Debug)]
pub(crate) struct OneProfile(PathBuf);

impl Walls {
    /// Walls for a loop.
    ///
    /// # Errors
    /// When there is no room for what belongs to them.
    pub fn new(place: &Place, task: &Words, caller: &Caller, reach: &Reach) -> io::Result<Self> {
        let mut walls = Self::of_programs(&toolchains(caller))?;
        let profile = &mut walls.profile;
        profile.write.push(place.root().to_owned());
        profile.read.extend(reach.read.iter().cloned());
        profile.write.extend(reach.write.iter().cloned());
        profile.write.extend(sign_in(task, caller));
        // The loop's own files, wherever they are.
        let own = [".carson", ".alpf"].map(|name| place.root().join(name));
        profile
            .read
            .extend(own.into_iter().filter(|path| path.exists()));
        if let Some(git) = GitDir::of(place.root()) {
            profile.write.extend([git.dir.clone(), git.common.clone()]);
            let dirs = [&git.dir, &git.common].into_iter();
            let runs = dirs.flat_map(|dir| RUNS.map(|name| dir.join(name)));
            profile.read.extend(runs.filter(|path| path.exists()));
        }
        Ok(walls)
    }

    /// Walls around a command of which nobody knows who wrote it: it reads the tree, the system and the toolchains, writes
    /// a temporary directory, which is its home, too, and talks to nobody.
    ///
    /// # Errors
    /// When there is no room for what belongs to them, or the tree holds what they are to keep from it.
    pub fn closed(place: &Place, caller: &Caller) -> Result<Self, LoopError> {
        let home = caller.home().and_then(|home| home.canonicalize().ok());
        if home.is_some_and(|home| home.starts_with(place.root())) {
            let lacks = "your home is in the tree, and would be read".to_owned();
            return Err(LoopError::NoWalls { lacks });
        }
        let toolchains = toolchains(caller);
        let walls = Self::of_programs(&toolchains);
        let mut walls = walls.map_err(LoopError::io("the sandbox cannot be prepared"))?;
        walls.profile.read.push(place.root().to_owned());
        walls.profile.network = Network::Nobody;
        walls.profile.resources = Resources {
            processes: Some(1_024),
            file_size_mb: Some(1_024),
            open_files: Some(4_096),
            ..Resources::default()
        };
        let homes = toolchains.homes.into_iter();
        let homes = homes.map(|(name, home)| (name.into(), home.into()));
        walls.env.extend(homes);
        walls
            .env
            .push(("HOME".into(), walls.dir.join("tmp").into()));
        Ok(walls)
    }

    /// What every program reads, and a temporary directory.
    fn of_programs(toolchains: &Toolchains) -> io::Result<Self> {
        let dir = private_dir()?;
        let tmp = dir.join("tmp");
        DirBuilder::new().mode(0o700).create(&tmp)?;
        let mut profile = Profile {
            demand: Demand::Required,
            read: Profile::system_reads(),
            write: vec![tmp.clone()],
            hide: Profile::system_secrets(),
            ..Profile::default()
        };
        profile.read.extend(toolchains.read.iter().cloned());
        profile.hide.extend(toolchains.hide.iter().cloned());
        Ok(Self {
            profile,
            dir,
            env: vec![("TMPDIR".into(), tmp.into())],
            runs: AtomicU64::new(0),
        })
    }

    /// What the environment has beside the caller's.
    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.clone()
    }

    /// The profile for one run.
    pub(crate) fn profile(&self) -> io::Result<OneProfile> {
        let n = self.runs.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join(format!("{n}.json"));
        self.profile.write_to(&path)?;
        Ok(OneProfile(path))
    }

    /// Whether this machine can put them up.
    ///
    /// # Errors
    /// What it lacks.
    pub async fn stand(&self, place: &Place) -> Result<(), String> {
        let profile = self.profile().map_err(|error| error.to_string())?;
        let command = Command::new("/bin/sh", place.root()).args(["-c", ":"]);
        let command = command.confined(profile.path());
        let tried = carson_proc::capture(&command, &Limits::within(Duration::from_secs(20))).await;
        let tried = tried.map_err(|error| error.to_string())?;
        let said = tried.stderr.text().trim().to_owned();
        match tried.exit {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) if code == i32::from(UNMET) => Err(said),
            other => Err(format!("a trial ended with {other}: {said}")),
        }
    }
}

impl Drop for Walls {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl OneProfile {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OneProfile {
    fn drop(&mut self) {
        for path in [
            &self.0,
            &Profile::level_path(&self.0),
            &Profile::left_path(&self.0),
        ] {
            let _ = fs::remove_file(path);
        }
    }
}

/// What the programs on the caller's `PATH` need.
fn toolchains(caller: &Caller) -> Toolchains {
    let path = caller.variable("PATH").unwrap_or_default();
    let variable = |name: &str| caller.variable(name).map(OsString::from);
    Toolchains::of(caller.home().as_deref(), path, variable)
}

/// Where the agent CLI of a task keeps its sign-in.
fn sign_in(task: &Words, caller: &Caller) -> Vec<PathBuf> {
    let name = task.program().map(Path::new).and_then(Path::file_name);
    let engine = EngineKind::all().find(|engine| {
        let cli = engine.cli();
        cli.is_some() && cli.map(std::ffi::OsStr::new) == name
    });
    let Some((variable, usual)) = engine.and_then(|engine| engine.facts().sign_in_dir) else {
        return Vec::new();
    };
    let named = caller.variable(variable).map(PathBuf::from);
    let below = usual.strip_prefix("~/").unwrap_or(usual);
    let usual = || Some(caller.home()?.join(below));
    let Some(dir) = named.or_else(usual) else {
        return Vec::new();
    };
    // Beside it lies a file of the same name.
    let beside = dir.with_file_name(format!("{below}.json"));
    [dir, beside]
        .into_iter()
        .filter(|path| path.exists())
        .collect()
}

/// A new directory that only we enter.
fn private_dir() -> io::Result<PathBuf> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name = format!("carson-loop-{:016x}", u64::from_ne_bytes(random));
    let dir = std::env::temp_dir().canonicalize()?.join(name);
    DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir)
}
