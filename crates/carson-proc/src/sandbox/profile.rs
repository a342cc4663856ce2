//! What one child tree may reach.

use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sandbox::overlay::Overlay;
use crate::sandbox::private::private;

/// What one child tree may reach; the launcher reads it from a file.
///
/// All paths are absolute. A path that does not exist is left out: a profile may name what only
/// some machines have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// What happens where the kernel cannot do it.
    pub demand: Demand,
    /// Files and trees that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Files and trees that may be read, executed and written. A path that is beneath one of these
    /// and in `read` is read-only where a mount namespace is possible.
    pub write: Vec<PathBuf>,
    /// Files and trees that are not to be seen at all, even beneath something that may be read:
    /// covered by an empty one where a mount namespace is possible; what is granted beneath is
    /// there. What is granted nowhere need not be named: in a mount namespace it does not exist.
    pub hide: Vec<PathBuf>,
    /// Places, without links themselves, that sessions may write: no link beneath one of these is
    /// followed on the way to what is granted, because an earlier session may have left it.
    pub shared: Vec<PathBuf>,
    /// Trees that are put together of others. They need a mount namespace: where there is none, the
    /// program is not started, whatever the demand.
    pub overlays: Vec<Overlay>,
    /// Whom it may talk to.
    pub network: Network,
    /// How much it may use.
    pub resources: Resources,
    /// For tests: pretend the kernel has less.
    pub force: Option<Abi>,
}

/// What happens where the kernel cannot do what a profile asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// The program is not started: [`Level::unmet`](crate::sandbox::Level::unmet).
    Required,
    /// It is started with what there is, and the level says what is weaker.
    #[default]
    BestEffort,
    /// No confinement at all but the limits of resources.
    Off,
}

/// Whom a child tree may talk to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Everybody.
    #[default]
    Open,
    /// Everybody, although a network of its own was wanted: there is none to be had here.
    Shared,
    /// TCP connections to these ports, and nothing else.
    Ports(Vec<u16>),
    /// Nobody: a network of its own with nothing in it.
    Nobody,
    /// A proxy and nobody else. The launcher listens on `127.0.0.1:proxy` (in a network namespace
    /// of the child's own where there are any) and hands the listening socket to whoever waits in
    /// [`receive_listener`](crate::sandbox::receive_listener) on `socket`.
    Isolated {
        /// The port.
        proxy: u16,
        /// A pathname socket.
        socket: PathBuf,
    },
}

/// How much a child tree may use. What is `None` has no bound of ours. Core dumps are never made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    /// Processes and threads at the same time.
    pub processes: Option<u64>,
    /// The largest file that is written, in MiB.
    pub file_size_mb: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Memory of the whole tree in MiB; of each process where there is no cgroup.
    pub memory_mb: Option<u64>,
    /// The same where nobody asked for a bound: only where a cgroup can hold the whole tree to it.
    pub tree_memory_mb: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
}

impl Resources {
    /// The bound on a whole tree's memory where nobody asked for one: three quarters of the machine's, in MiB.
    #[must_use]
    pub fn usual_tree_memory_mb() -> Option<u64> {
        let told = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib: u64 = line?.split_whitespace().next()?.parse().ok()?;
        Some(kib / 1024 / 4 * 3)
    }
}

/// A kernel that has less than this one, for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Abi {
    /// The highest Landlock ABI; 0 for none.
    pub landlock: u8,
    /// Whether there are namespaces.
    pub namespaces: bool,
    /// Whether there is seccomp.
    pub seccomp: bool,
    /// Whether there are control groups.
    pub cgroup: bool,
}

impl Default for Abi {
    fn default() -> Self {
        Self {
            landlock: u8::MAX,
            namespaces: true,
            seccomp: true,
            cgroup: true,
        }
    }
}

impl Network {
    /// Whether nobody is kept from anybody.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::Shared)
    }
}

impl Resources {
    /// What a control group holds the whole tree to, in MiB.
    pub(crate) fn of_the_tree(&self) -> Option<u64> {
        self.memory_mb.or(self.tree_memory_mb)
    }
}

impl Profile {
    /// Reads it from a file, or from `/dev/fd/N`.
    ///
    /// # Errors
    /// When it cannot be read, is no profile, or names a path that is not absolute.
    pub fn read_from(path: &Path) -> io::Result<Self> {
        let mut text = String::new();
        std::fs::File::open(path)?.read_to_string(&mut text)?;
        let profile: Self = serde_json::from_str(&text).map_err(io::Error::other)?;
        let paths = profile
            .read
            .iter()
            .chain(&profile.write)
            .chain(&profile.hide)
            .chain(&profile.shared)
            .chain(profile.overlays.iter().flat_map(Overlay::paths));
        let relative = { paths }.find(|path| !path.is_absolute()).cloned();
        match relative {
            Some(path) => Err(io::Error::other(format!("{path:?} is not absolute"))),
            None => Ok(profile),
        }
    }

    /// Writes it to a new file that only we can read (0600).
    ///
    /// # Errors
    /// What the disk says; the file must not exist.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?
            .write_all(&text)
    }

    /// Where the launcher writes the level that it reached: beside the profile.
    #[must_use]
    pub fn level_path(profile: &Path) -> PathBuf {
        beside(profile, ".level")
    }

    /// Where the launcher writes how many processes the program has left behind, if any: beside
    /// the profile. Whoever calls [`run`](crate::run) finds it in [`Finished`](crate::Finished).
    #[must_use]
    pub fn left_path(profile: &Path) -> PathBuf {
        beside(profile, ".left")
    }

    /// What programs of the system need to run at all: to be added to `read`. What is secret in
    /// `/etc` is in [`Profile::system_secrets`].
    #[must_use]
    pub fn system_reads() -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        // Where these live in /run, a link of /etc alone leads nowhere.
        let linked = ["/etc/resolv.conf", "/etc/localtime", "/etc/hosts"];
        paths.extend(
            linked
                .iter()
                .filter_map(|path| Path::new(path).canonicalize().ok()),
        );
        paths.retain(|path| path.exists());
        paths.dedup();
        paths
    }

    /// What we can read beneath [`Profile::system_reads`] and others cannot, and what is secret by
    /// its name: to be added to `hide`.
    #[must_use]
    pub fn system_secrets() -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = SECRET.iter().map(PathBuf::from).collect();
        paths.retain(|path| path.symlink_metadata().is_ok());
        let known = paths.len();
        for path in private() {
            if !paths[..known].iter().any(|place| path.starts_with(place)) {
                paths.push(path);
            }
        }
        paths
    }
}

fn beside(profile: &Path, ending: &str) -> PathBuf {
    let mut name = profile.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

const SYSTEM: [&str; 10] = [
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix",
    "/opt",
    "/sbin",
    "/sys/devices/system/cpu",
    "/usr",
];

const SECRET: [&str; 8] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
];
