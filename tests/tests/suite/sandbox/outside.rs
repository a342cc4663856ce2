//! A small world with something to attack in it.

#![expect(
    clippy::disallowed_methods,
    reason = "starts the launcher as another user, and its victims"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use carson_proc::sandbox::{Level, Network, Profile};
use carson_tests::fleet::binary;
use nix::unistd::{Gid, Uid, chown};
use serde_json::json;
use tempfile::TempDir;

const PYTHON: &str = "/usr/bin/python3";
const NOBODY: u32 = 65534;

/// Who attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// Who runs the tests.
    Me,
    /// An ordinary user, where root runs the tests.
    Nobody,
}

/// Both, where nobody else tests as the other one.
pub fn users() -> Vec<User> {
    match carson_tests::users::plays_nobody_too() {
        true => vec![User::Me, User::Nobody],
        false => vec![User::Me],
    }
}

pub struct Outside {
    dir: TempDir,
    user: User,
    pub profile: Profile,
    victim: Child,
    /// Ports, sockets and a descriptor that stay open.
    tcp: [TcpListener; 2],
    udp: UdpSocket,
    _unix: [UnixListener; 2],
    inherited: fs::File,
    name: String,
}

impl Outside {
    pub fn new(user: User) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["tree", "outside", "shared/hidden"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for name in [
            "tree/file",
            "tree/.git",
            "outside/secret",
            "outside/victim",
            "shared/hidden/key",
        ] {
            fs::write(at(name), "something").unwrap();
        }
        let name = dir.path().file_name().unwrap().to_str().unwrap().to_owned();
        let hidden = SocketAddr::from_abstract_name(&name).unwrap();
        let unix = [
            UnixListener::bind(at("outside/socket")).unwrap(),
            UnixListener::bind_addr(&hidden).unwrap(),
        ];
        let tcp = [listen(), listen()];
        let ports = Network::Ports(vec![tcp[0].local_addr().unwrap().port()]);
        let mut read = Profile::system_reads();
        read.extend([at("tree/.git"), at("shared")]);
        let profile = Profile {
            read,
            write: vec![at("tree")],
            hide: vec![at("shared/hidden"), "/tmp".into()],
            network: ports,
            ..Profile::default()
        };
        let inherited = fs::File::open(at("outside/secret")).unwrap();
        give(dir.path(), user);
        let mut sleep = as_user(user, "/bin/sleep".as_ref());
        let victim = sleep.arg("1000").env("VICTIM", "secret").spawn().unwrap();
        Self {
            victim,
            tcp,
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            _unix: unix,
            inherited,
            name,
            profile,
            user,
            dir,
        }
    }

    pub fn in_tree(&self, name: &str) -> PathBuf {
        self.dir.path().join("tree").join(name)
    }

    pub fn profile_path(&self) -> PathBuf {
        self.dir.path().join("profile.json")
    }

    /// Tries everything; what was allowed.
    pub fn attack(&self) -> (BTreeSet<String>, Level) {
        let attacked = self.attack_leaving_scratch();
        assert!(!self.scratch().exists(), "its /tmp is that of the machine");
        attacked
    }

    /// What it leaves in the machine's own /tmp where it has no other.
    fn scratch(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/scratch-{}", self.name))
    }

    /// The same where its /tmp may be that of the machine.
    pub fn attack_leaving_scratch(&self) -> (BTreeSet<String>, Level) {
        let at = |name: &str| self.dir.path().join(name);
        let plan = json!({
            "tree": at("tree"),
            "outside": at("outside"),
            "secret": at("outside/secret"),
            "socket": at("outside/socket"),
            "hidden": at("shared/hidden/key"),
            "abstract": self.name,
            "name": self.name,
            "open": self.tcp[0].local_addr().unwrap().port(),
            "closed": self.tcp[1].local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "fd": self.inherited.as_raw_fd(),
            "victim": self.victim.id(),
            "syscalls": syscalls(),
        });
        fs::write(self.in_tree("plan.json"), plan.to_string()).unwrap();
        fs::write(self.in_tree("attack.py"), include_str!("attack.py")).unwrap();
        let args = [self.in_tree("attack.py"), self.in_tree("plan.json")];
        let output = self.start(PYTHON, &[&args[0], &args[1]]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let outcomes: BTreeMap<String, String> = serde_json::from_slice(&output.stdout).unwrap();
        assert!(outcomes.len() > 30);
        let allowed = outcomes.into_iter().filter(|(_, how)| how == "allowed");
        let level = Level::read_beside(&self.profile_path()).unwrap();
        (allowed.map(|(name, _)| name).collect(), level)
    }

    /// Runs a program through the launcher, in the tree, to its end.
    pub fn start(&self, program: &str, args: &[&Path]) -> Output {
        let path = self.profile_path();
        let _ = fs::remove_file(&path);
        self.profile.write_to(&path).unwrap();
        give(self.dir.path(), self.user);
        let launcher = launcher(self.dir.path());
        // The descriptor of a careless caller.
        let inherited = self.inherited.as_raw_fd();
        let shell = format!("exec \"$@\" {inherited}<\"$SECRET\"");
        let mut command = as_user(self.user, "/bin/bash".as_ref());
        command.args(["-c", &shell, "bash"]).arg(launcher);
        command
            .arg("sandbox-launch")
            .arg(path)
            .arg("--")
            .arg(in_path(program))
            .args(args)
            .env("SECRET", self.dir.path().join("outside/secret"))
            .current_dir(self.dir.path().join("tree"))
            .output()
            .unwrap()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(self.scratch());
    }
}

fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn in_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH");
    carson_proc::find_on_path(Path::new(program), path.as_deref()).unwrap()
}

/// Our own binary may lie where another user cannot go.
fn launcher(dir: &Path) -> PathBuf {
    let copy = dir.join("carson");
    if !copy.exists() && fs::hard_link(binary(), &copy).is_err() {
        fs::copy(binary(), &copy).unwrap();
    }
    copy
}

fn as_user(user: User, program: &OsStr) -> Command {
    if user == User::Me {
        return Command::new(program);
    }
    let mut command = Command::new("/usr/bin/setpriv");
    let nobody = NOBODY.to_string();
    command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
    command.arg(program);
    command
}

/// Makes everything that user's, so that nothing is refused for its owner's sake.
fn give(path: &Path, user: User) {
    if user == User::Me {
        return;
    }
    let owner = (Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY)));
    if path.ends_with("carson") {
        return;
    }
    chown(path, owner.0, owner.1).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

/// Numbers that Python has no names for.
fn syscalls() -> serde_json::Value {
    if cfg!(target_arch = "x86_64") {
        json!({"process_vm_readv": 310, "keyctl": 250, "open_by_handle_at": 304,
               "io_uring_setup": 425})
    } else {
        json!({"process_vm_readv": 270, "keyctl": 219, "open_by_handle_at": 265,
               "io_uring_setup": 425})
    }
}
