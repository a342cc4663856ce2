//! A fleet with secrets, neighbours and an agent that means harm; and what is to be seen of it
//! from outside.

#![expect(
    clippy::disallowed_methods,
    reason = "it looks from outside, and starts what is looked at"
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use carson_tests::fleet::{Ran, TestFleet, binary, tree};
use carson_tests::until;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use super::less::Kernel;
use super::props::{on_a_small_disk, secrets};

/// What [`Scene::outside`] calls the mode of the operator's file that attempts aim at.
pub const MODE: &str = "mode of .bashrc";

/// In the operator's environment, and nowhere else.
const CANARY: &str = "canary-91d4";

/// The neighbour waits in its session; the good one just works.
const TALK: &str = r#"
[[when]]
issue = 1
do = [{ edit = { path = "neighbour.txt", content = "mine\n" } }, { barrier = "SHARED/barrier" }, { commit = "Mine" }, { say = "[OK] done" }]

[[when]]
do = [{ edit = { path = "good.txt", content = "good\n" } }, { commit = "Good" }, { say = "[OK] done" }]
"#;

/// How an attempt went, as the agent saw it.
#[derive(Clone, Debug)]
pub struct Went {
    /// Its name.
    pub name: String,
    /// Whether it got through.
    pub through: bool,
    /// What it got, or what stopped it.
    pub said: String,
    /// The kernel's answer.
    pub errno: Option<i64>,
}

/// The scene.
pub struct Scene {
    pub fleet: TestFleet,
    /// Arguments of the attempts.
    pub more: Value,
    neighbour: Option<Child>,
    victim: Child,
    _socket: UnixListener,
    another: tempfile::TempDir,
    sleep: String,
    /// Benches lie on a disk of this size.
    pub small_disk_mb: Option<u32>,
    /// Whether somebody has looked how it is after the last attempt.
    looked_after: Cell<bool>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        assert!(
            self.looked_after.get() || std::thread::panicking(),
            "a test ends without a look at what the agent left: `is_healthy`"
        );
        // The neighbour's session outlives a killed firing, and ends by itself when it may go on.
        let _ = fs::write(self.fleet.shared().join("barrier.go"), "");
        for child in self.neighbour.iter_mut().chain([&mut self.victim]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        // What got away in spite of everything would stay for hours.
        for pid in self.sleepers() {
            let pid = nix::unistd::Pid::from_raw(pid);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

impl Scene {
    /// With these keys in the hostile role, and this in Carson's environment.
    pub fn new(role: &str, env: &[(&str, &str)], ordinary: bool) -> Self {
        let mut fleet = TestFleet::new()
            .with_env("AWS_SECRET_ACCESS_KEY", CANARY)
            .with_env("SOMETHING", format!("{CANARY}-else"));
        for (name, value) in env {
            fleet = fleet.with_env(*name, *value);
        }
        secrets(&fleet);
        let script = TALK.replace("SHARED", fleet.shared().to_str().unwrap());
        fleet.script(&script);
        for name in ["neighbour", "good"] {
            fleet.role(name, "play", "stages = [\"execute\"]\n");
        }
        let hostile = fleet.root().join("hostile");
        // Beside the others; not where it was built, which an ordinary user may not reach.
        fs::copy(binary().with_file_name("hostile"), &hostile).unwrap();
        let targets = fleet.root().join("targets.json");
        let body = format!("engine = \"command\"\nbinary = {hostile:?}\nargs = [{targets:?}]");
        fleet.account("hostile", &body);
        let role = format!("stages = [\"execute\"]\n{role}");
        fleet.role("hostile", "hostile", &role);
        let socket = UnixListener::bind(fleet.root().join("agent.sock")).unwrap();
        // Different for each test that runs at the same time.
        let sleep = format!("7{:06}.{}", std::process::id(), 1 + line!());
        let scene = Self {
            victim: sleeper("86399"),
            fleet: if ordinary {
                fleet.as_ordinary_user()
            } else {
                fleet
            },
            more: json!({}),
            neighbour: None,
            _socket: socket,
            another: tempfile::tempdir().unwrap(),
            sleep,
            small_disk_mb: None,
            looked_after: Cell::new(false),
        };
        fs::write(scene.another.path().join("file"), "theirs\n").unwrap();
        scene
    }

    /// The same on a kernel.
    pub fn on(kernel: &Kernel, role: &str, ordinary: bool) -> Self {
        let forced = [("CARSON_SANDBOX_FORCE", kernel.force)];
        let env = if kernel.force.is_empty() {
            &[][..]
        } else {
            &forced
        };
        Self::new(role, env, ordinary)
    }

    /// Starts a firing that works beside, and waits until it is in its session.
    pub fn with_neighbour(mut self) -> Self {
        assert_eq!(self.fleet.issue("neighbour", "Work", "Slowly."), 1);
        let mut command = self.fleet.command(&["fire", "neighbour", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        self.neighbour = Some(command.spawn().unwrap());
        let reached = self.fleet.shared().join("barrier.reached");
        until("the neighbour to be in its session", || {
            reached.exists().then_some(())
        });
        self
    }

    /// The neighbour's worktree.
    fn other_tree(&self) -> PathBuf {
        let bench = self.fleet.benches().into_iter().next();
        let items = bench.map(|bench| fs::read_dir(bench).unwrap().flatten());
        let mut items = items.into_iter().flatten();
        let tree = items.find(|item| item.file_name().to_string_lossy().starts_with("tree-"));
        tree.map_or_else(|| self.fleet.root().join("none"), |item| item.path())
    }

    /// Lets the agent try, and returns the firing's row and how the attempts went.
    pub fn attempt(&self, names: &[&str]) -> (Value, Vec<Went>) {
        self.brief_agent(names);
        self.fleet
            .issue("hostile", "Do harm", "As much as you can.");
        let ran = self.fire();
        let id = ran.json()["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{ran:#?}"))
            .to_owned();
        self.went(&id)
    }

    /// Tells the agent what to try, and all that an insider knows.
    pub fn brief_agent(&self, names: &[&str]) {
        self.looked_after.set(false);
        let targets = self.fleet.root().join("targets.json");
        let mut known = json!({
            "user": self.fleet.root().join("operator"),
            "carson_home": self.fleet.home(),
            "mirror": self.fleet.mirror(),
            "other_tree": self.other_tree(),
            "other_sign_in": self.fleet.root().join("operator/.claude-other"),
            "token": self.fleet.home().join("github.token"),
            "tmp_of_another": self.another.path().join("file"),
            "system": self.system(),
            "trap": self.trap(),
            "socket": self.fleet.root().join("agent.sock"),
            "victim": self.victim.id(),
            "numbers": self.fleet.shared().join("numbers.json"),
            "canary": CANARY,
            "sleep": self.sleep,
            "attempts": names,
        });
        for (name, value) in self.more.as_object().unwrap() {
            known[name] = value.clone();
        }
        fs::write(&targets, known.to_string()).unwrap();
        self.fleet.hand_over();
    }

    /// A firing's row, and how its attempts went.
    pub fn went(&self, id: &str) -> (Value, Vec<Went>) {
        let row = self.fleet.firing(id);
        // A session that never began has none.
        let there = self.fleet.home().join("transcripts").join(id).exists();
        let said = if there {
            self.fleet.transcripts(id).concat()
        } else {
            String::new()
        };
        (row, said.lines().filter_map(went).collect())
    }

    /// `carson fire hostile`.
    fn fire(&self) -> Ran {
        let mut command = self.fleet.command(&["fire", "hostile", "--json"]);
        if let Some(mb) = self.small_disk_mb {
            command = on_a_small_disk(&command, &self.fleet.home().join("benches"), mb);
        }
        command.output().unwrap().into()
    }

    /// The same scene on a kernel that has less.
    pub fn forcing(mut self, force: &str) -> Self {
        self.fleet.set_env("CARSON_SANDBOX_FORCE", force);
        self
    }

    /// What exists once somebody ran what the agent left in its repository.
    pub fn trap(&self) -> PathBuf {
        self.fleet.shared().join("sprung")
    }

    /// The outsider's number.
    pub fn victim(&self) -> u32 {
        self.victim.id()
    }

    /// A file in a place of the system's.
    fn system(&self) -> PathBuf {
        PathBuf::from(format!("/usr/local/lib/carson-test-{}", std::process::id()))
    }

    /// Everything outside that must stay as it is.
    pub fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = tree(&self.fleet.root().join("operator"));
        all.extend(tree(self.another.path()));
        all.extend(tree(&self.fleet.home().join("roles")));
        let other = self.other_tree();
        for file in ["README.md", "neighbour.txt", ".git"] {
            let file = other.join(file);
            all.insert(file.clone(), fs::read(&file).unwrap_or_default());
        }
        let home = self.fleet.home();
        let evil = [
            "carson.toml",
            "state/evil",
            "mirrors/widget.git/refs/heads/evil",
        ];
        let evil = evil.map(|file| home.join(file));
        for file in evil.into_iter().chain([self.system()]) {
            all.insert(file.clone(), fs::read(&file).unwrap_or_default());
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        let bashrc = self.fleet.root().join("operator/.bashrc");
        let mode = mode(&bashrc).to_string();
        all.insert(PathBuf::from(MODE), mode.into_bytes());
        all
    }

    /// What must be true after any firing of the agent's.
    pub fn is_healthy(&mut self) {
        assert!(
            self.victim.try_wait().unwrap().is_none(),
            "the outsider is dead"
        );
        assert_eq!(self.sleepers(), [0; 0], "somebody was left behind");
        let fsck = Command::new("git")
            .args([
                "-c",
                "safe.directory=*",
                "fsck",
                "--strict",
                "--no-dangling",
            ])
            .current_dir(self.fleet.mirror())
            .output()
            .unwrap();
        assert!(fsck.status.success(), "{fsck:?}");
        let main = self.fleet.tip("main");
        let mirrored = Command::new("git")
            .args([
                "-c",
                "safe.directory=*",
                "rev-parse",
                "refs/remotes/origin/main",
            ])
            .current_dir(self.fleet.mirror())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&mirrored.stdout).trim(), main);
        if let Some(mut neighbour) = self.neighbour.take() {
            fs::write(self.fleet.shared().join("barrier.go"), "").unwrap();
            let status = neighbour.wait().unwrap();
            let mut said = String::new();
            neighbour
                .stdout
                .take()
                .unwrap()
                .read_to_string(&mut said)
                .unwrap();
            assert!(status.success(), "{said}");
        }
        self.fleet.issue("good", "Work", "Well.");
        let next = self.fleet.fire("good");
        assert_eq!(next.json()["outcome"], "OK", "{next:#?}");
        assert_eq!(self.fleet.benches(), Vec::<PathBuf>::new());
        self.looked_after.set(true);
    }

    /// The processes that the agent started, by the time they sleep.
    pub fn sleepers(&self) -> Vec<i32> {
        let mark = self.sleep.clone().into_bytes();
        let holds = |pid: &i32| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.split(|byte| *byte == 0).any(|arg| arg == mark))
        };
        let items = fs::read_dir("/proc").unwrap();
        items
            .filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok())
            .filter(holds)
            .collect()
    }
}

fn sleeper(seconds: &str) -> Child {
    Command::new("sleep").arg(seconds).spawn().unwrap()
}

fn went(line: &str) -> Option<Went> {
    let went: Value = serde_json::from_str(line.strip_prefix("attempt ")?).ok()?;
    Some(Went {
        name: went["name"].as_str()?.to_owned(),
        through: went["through"].as_bool()?,
        said: went["said"].as_str()?.to_owned(),
        errno: went["errno"].as_i64(),
    })
}

/// The most memory, in kB, that a process had which this test started and which has ended, or one that it
/// waited for: the kernel keeps it, however busy the machine is.
pub fn peak_kb() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    usage.max_rss().unsigned_abs()
}
