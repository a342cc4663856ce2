//! A PostgreSQL server of a test's own: it may be killed, started again, doubled, and have its disk filled.
//!
//! It is of the same installation as the one that `cargo xtask test` starts, has a socket and no port, and is
//! reached through a [`Wire`](crate::wire::Wire) like any other.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "support of tests: it runs the server's own programs, and may panic"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};
use sqlx::{Connection as _, PgConnection, query_scalar};
use tempfile::TempDir;

use crate::postgres::TestDatabase;
use crate::until;

/// Not the directory that the environment names: the path of a socket has at most 107 bytes, and the server's own user
/// must be able to enter.
const PARENT: &str = "/tmp";

/// What a killed process had written is in the system's hands: nothing waits for the disk.
const SETTINGS: &str =
    "-c listen_addresses= -c port=5432 -c fsync=off -c max_connections=60 -c min_wal_size=2MB";

const INIT: &str = "initdb --auth=trust --username=postgres --encoding=UTF8 --locale=C.UTF-8 --wal-segsize=1 \
     --no-sync --no-instructions --pgdata disk/data >log 2>&1";

/// In a user namespace a disk needs no rights that a user does not have. The server then runs as a user again: as
/// root it would not, not even as one of its own making.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=60m,mode=0777 carson disk && \
     exec unshare --user --map-user=1000 --map-group=1000 -- sh -c \"$1\"";

/// A running server; it goes with its directory when it is dropped.
#[derive(Debug)]
pub struct TestServer {
    dir: TempDir,
    bin: PathBuf,
    /// Whoever keeps it: itself, or on a small disk who starts it again each time it ends.
    keeper: Option<Child>,
}

impl Default for TestServer {
    fn default() -> Self {
        Self::new()
    }
}

impl TestServer {
    /// One with an empty database.
    #[must_use]
    pub fn new() -> Self {
        let mut server = Self::in_a_new_dir();
        server.must(INIT);
        server.start();
        server
    }

    /// The same with its data on a disk of 60 megabytes, which can be filled; a server that ended there is started again.
    #[must_use]
    pub fn on_a_small_disk() -> Self {
        let mut server = Self::in_a_new_dir();
        let forever = format!(
            "{INIT} && while true; do {}; sleep 0.5; done",
            server.serve()
        );
        let mut confined = server.command("unshare");
        confined.args([
            "--user",
            "--map-root-user",
            "--mount",
            "--",
            "sh",
            "-c",
            ON_A_SMALL_DISK,
            "sh",
            &forever,
        ]);
        server.keeper = Some(confined.spawn().unwrap());
        server.answers();
        server
    }

    /// Another one, to which every commit of this one is carried before it is acknowledged.
    #[must_use]
    pub fn standby(&self) -> Self {
        let mut other = Self::in_a_new_dir();
        let from = self.dir.path().display();
        other.must(&format!(
            "pg_basebackup -h {from} -U postgres -D disk/data -X stream -c fast -R --no-sync >log 2>&1"
        ));
        other.start();
        self.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
            .unwrap();
        self.ask("SELECT pg_reload_conf()").unwrap();
        until("the standby to follow", || {
            let state = self.ask("SELECT sync_state FROM pg_stat_replication");
            (state.unwrap() == "sync").then_some(())
        });
        other
    }

    /// Makes a standby the server, at the address of the one that it followed.
    pub fn takes_the_place_of(&self, other: &Self) {
        assert_eq!(self.ask("SELECT pg_promote()").unwrap(), "t");
        fs::remove_file(other.address()).unwrap();
        symlink(self.dir.path(), other.address()).unwrap();
    }

    /// Its address, for a [`Wire`](crate::wire::Wire).
    #[must_use]
    pub fn url(&self) -> String {
        let address = self.address();
        format!(
            "postgres://postgres@localhost/postgres?host={}",
            address.display()
        )
    }

    /// The first value that it answers.
    ///
    /// # Errors
    /// With what psql said.
    pub fn ask(&self, query: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.args(["-qAtX", "-U", "postgres", "-h"]);
        psql.arg(self.dir.path()).args(["-c", query, "postgres"]);
        let asked = psql.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let asked = asked.unwrap();
        match asked.status.success() {
            true => Ok(text(&asked.stdout)),
            false => Err(text(&asked.stderr)),
        }
    }

    /// Starts it, or starts it again.
    pub fn start(&mut self) {
        let serve = format!("exec {}", self.serve());
        self.keeper = Some(self.command("sh").args(["-c", &serve]).spawn().unwrap());
        self.answers();
    }

    /// Kills it with everybody who works for it.
    pub fn kill(&mut self) {
        let Some(mut keeper) = self.keeper.take() else {
            return;
        };
        let all = descendants(keeper.id().cast_signed());
        keeper.kill().unwrap();
        for pid in all {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            let gone = || (!Path::new(&format!("/proc/{pid}/stat")).exists()).then_some(());
            until("a process of the server to be gone", gone);
        }
        keeper.wait().unwrap();
    }

    /// Fills its small disk to the last byte, and asks it to write, until it had no room for something.
    pub fn fill(&self) {
        let disk = self.disk();
        until("the server to have no room", || {
            self.run(&format!("cat /dev/zero >>{disk}/filled"));
            let write = "SELECT pg_logical_emit_message(true, 'fill', repeat('x', 500000))";
            let _ = self.ask(write);
            self.log().contains("No space left on device").then_some(())
        });
    }

    /// Gives its disk the room back.
    pub fn free(&self) {
        self.must(&format!("rm {}/filled", self.disk()));
    }

    /// What it said.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    fn in_a_new_dir() -> Self {
        let prefix = "carson-server-";
        let dir = tempfile::Builder::new().prefix(prefix).tempdir_in(PARENT);
        let dir = dir.unwrap();
        let disk = dir.path().join("disk");
        fs::create_dir(&disk).unwrap();
        if let Some(user) = account() {
            for dir in [dir.path(), &disk] {
                chown(dir, Some(user.uid), Some(user.gid)).unwrap();
            }
        }
        symlink(dir.path(), dir.path().join("address")).unwrap();
        Self {
            dir,
            bin: programs(),
            keeper: None,
        }
    }

    /// Where it is reached, whoever is there now.
    fn address(&self) -> PathBuf {
        self.dir.path().join("address")
    }

    /// Its small disk, as it is seen from outside.
    fn disk(&self) -> String {
        let keeper = self.keeper.as_ref().unwrap().id();
        format!("/proc/{keeper}/root{}/disk", self.dir.path().display())
    }

    fn serve(&self) -> String {
        let dir = self.dir.path().display();
        format!("postgres -D disk/data -k {dir} {SETTINGS} >>log 2>&1")
    }

    fn answers(&self) {
        until("the server to answer", || {
            self.ask("SELECT 1").ok().map(drop)
        });
    }

    /// A program run as the server's own user, which is not root.
    fn command(&self, program: &str) -> Command {
        let mut command = match account() {
            None => Command::new(program),
            Some(user) => {
                let mut other = Command::new("setpriv");
                other.arg(format!("--reuid={}", user.uid));
                other.arg(format!("--regid={}", user.gid));
                other.args(["--init-groups", "--", program]);
                other
            }
        };
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn run(&self, script: &str) -> Output {
        let mut shell = self.command("sh");
        let shell = shell.args(["-c", script]);
        let shell = shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.output().unwrap()
    }

    fn must(&self, script: &str) {
        let ran = self.run(script);
        assert!(ran.status.success(), "{script}: {ran:?}");
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = fs::read_to_string(self.dir.path().join("log"));
            eprintln!("the server said:\n{}", log.unwrap_or_default());
        }
        if let Some(mut keeper) = self.keeper.take() {
            let all = descendants(keeper.id().cast_signed());
            let _ = keeper.kill();
            for pid in all {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            let _ = keeper.wait();
        }
    }
}

/// Who a server runs as where we are root, which it refuses to be.
fn account() -> Option<User> {
    geteuid()
        .is_root()
        .then(|| User::from_name("postgres").unwrap().unwrap())
}

/// Where the programs of the server are that the tests know.
fn programs() -> PathBuf {
    let known = TestDatabase::new();
    let ask = async {
        let mut connection = PgConnection::connect(&known.url()).await.unwrap();
        let asked = query_scalar("SELECT setting FROM pg_config() WHERE name = 'BINDIR'");
        let bin: String = asked.fetch_one(&mut connection).await.unwrap();
        bin.into()
    };
    // In a thread of its own, for the test may run in a runtime already.
    let asked = thread::scope(|scope| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        scope.spawn(move || runtime.block_on(ask)).join()
    });
    asked.unwrap()
}

/// The processes below this one.
fn descendants(of: i32) -> Vec<i32> {
    let parents: Vec<(i32, i32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // pid (name) state parent …, and a name may hold anything.
            let (_, rest) = stat.rsplit_once(") ")?;
            Some((pid, rest.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![of];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let children = parents.iter().filter(|(_, above)| *above == parent);
        found.extend(children.map(|(pid, _)| pid));
        at += 1;
    }
    found.split_off(1)
}

fn text(said: &[u8]) -> String {
    String::from_utf8_lossy(said).trim().to_owned()
}
