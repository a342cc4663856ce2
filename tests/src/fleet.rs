//! A hermetic fleet: a home, a bare remote repository and a local forge in one temporary
//! directory, and the built `carson` binary run against them.
//!
//! A test adds an account and a role with [`TestFleet::account`] and [`TestFleet::role`], work with
//! [`TestFleet::issue`], and types commands with [`TestFleet::carson`]. Nothing of the machine's
//! own git settings, environment or home is seen, so tests may run beside each other. Everything
//! here panics when the machine does not do what was asked: a test cannot go on then.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "support of tests: it runs the binary under test, and may panic"
)]

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The one repository of a [`TestFleet`], as its settings call it.
pub const REPO: &str = "widget";

/// What workspaces are made of, where that is not Carson's own choice: tests of what holds a session run
/// on each kind.
const WORKSPACES: &str = "CARSON_TEST_WORKSPACES";

/// What workspaces stand on in this run of the suite.
///
/// # Panics
/// When the variable that says so is no text.
#[must_use]
pub fn workspaces() -> String {
    match std::env::var_os(WORKSPACES) {
        Some(kind) => kind.into_string().unwrap(),
        None => "layers".to_owned(),
    }
}

/// `nobody`: a user without a home, a name that matters, or rights.
const ORDINARY: u32 = 65_534;

/// A fleet of its own; goes with its directory when it is dropped.
#[derive(Debug)]
pub struct TestFleet {
    dir: TempDir,
    /// Its own copies of the binaries, where a test spoils them.
    binaries: Option<TempDir>,
    /// Who runs `carson`, where that is somebody else.
    user: Option<u32>,
    env: Vec<(OsString, OsString)>,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Everything it printed.
    pub stdout: String,
    /// Everything it said beside that.
    pub stderr: String,
}

impl Ran {
    /// Its standard output as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Default for TestFleet {
    fn default() -> Self {
        Self::new()
    }
}

impl TestFleet {
    /// A home with the repository [`REPO`], which has one commit on `main`, and neither accounts
    /// nor roles.
    #[must_use]
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// One in a directory of its own below this one.
    #[must_use]
    pub fn below(place: &Path) -> Self {
        let dir = tempfile::tempdir_in(place).unwrap();
        let fleet = Self {
            dir,
            binaries: None,
            user: None,
            env: Vec::new(),
        };
        for part in ["home/roles", "operator", "seed", "shared"] {
            fs::create_dir_all(fleet.root().join(part)).unwrap();
        }
        let remote = fleet.remote();
        let init = ["init", "--quiet", "--initial-branch=main"];
        git(
            fleet.root(),
            &[&init[..], &["--bare", remote.to_str().unwrap()]].concat(),
        );
        git(&fleet.seed(), &init);
        fleet.commit_to_main(&[("README.md", "# Widget\n")]);
        let kind = std::env::var(WORKSPACES).map(|kind| format!("workspaces = {kind:?}\n"));
        let kind = kind.unwrap_or_default();
        let settings = format!(
            "[fleet]\nname = \"test\"\nhost = \"here\"\nmax_firings = 8\n{kind}\n\
             [repos.{REPO}]\nurl = {remote:?}\nbase = \"main\"\n",
        );
        fs::write(fleet.home().join("carson.toml"), settings).unwrap();
        fleet
    }

    /// Adds a variable to the environment of every command from now on: the operator's.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Puts a program on the operator's PATH from now on: this text for `sh`.
    #[must_use]
    pub fn with_program(mut self, name: &str, script: &str) -> Self {
        let dir = self.root().join("programs");
        fs::create_dir_all(&dir).unwrap();
        let program = dir.join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let mut path = dir.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.set_env("PATH", path);
        self
    }

    /// Sets a variable of every command from now on.
    pub fn set_env(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.env.push((name.into(), value.into()));
    }

    /// Gives it `carson` and `carson-hook` in a directory of its own, where `carson` is its own
    /// launcher.
    #[must_use]
    pub fn with_own_binaries(mut self) -> Self {
        let built = binary();
        let dir = tempfile::tempdir_in(built.parent().unwrap()).unwrap();
        for name in ["carson", "carson-hook"] {
            // A second name costs nothing, and removing it leaves the first one alone.
            fs::hard_link(built.with_file_name(name), dir.path().join(name)).unwrap();
        }
        self.binaries = Some(dir);
        self
    }

    /// Lets an ordinary user run `carson` from now on, where we are root: everything so far becomes
    /// theirs, with copies of the binaries, because the build's own may lie where nobody else reads.
    /// Does nothing where we are an ordinary user already.
    #[must_use]
    pub fn as_ordinary_user(mut self) -> Self {
        if !nix::unistd::geteuid().is_root() {
            return self;
        }
        let (built, own) = (self.binary(), tempfile::tempdir_in(self.root()).unwrap());
        for name in ["carson", "carson-hook"] {
            fs::copy(built.with_file_name(name), own.path().join(name)).unwrap();
        }
        self.binaries = Some(own);
        self.user = Some(ORDINARY);
        self.hand_over();
        self
    }

    /// Gives everything to the user who runs `carson`.
    pub fn hand_over(&self) {
        if let Some(user) = self.user {
            own(self.root(), user);
        }
    }

    /// The `carson` that it runs.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        let own = self.binaries.as_ref();
        own.map_or_else(binary, |dir| dir.path().join("carson"))
    }

    /// The temporary directory of everything.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// `CARSON_HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// A directory that every session may write: where scripts meet their test.
    #[must_use]
    pub fn shared(&self) -> PathBuf {
        self.root().join("shared")
    }

    /// The bare repository that Carson mirrors and pushes to.
    #[must_use]
    pub fn remote(&self) -> PathBuf {
        self.root().join("remote.git")
    }

    fn seed(&self) -> PathBuf {
        self.root().join("seed")
    }

    /// Adds `[accounts.NAME]` with this TOML as its body.
    pub fn account(&self, name: &str, body: &str) -> &Self {
        let path = self.home().join("carson.toml");
        let settings = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{settings}\n[accounts.{name}]\n{body}\n")).unwrap();
        self
    }

    /// Adds a role that works in [`REPO`] on issues labelled `for:NAME` with this account, and
    /// fires by itself once a year. `more` is TOML; keys of the top level stand before sections.
    pub fn role(&self, name: &str, account: &str, more: &str) -> &Self {
        self.role_at(name, account, "0 0 1 1 *", more)
    }

    /// The same with a cadence of its own.
    pub fn role_at(&self, name: &str, account: &str, cadence: &str, more: &str) -> &Self {
        let dir = self.home().join("roles").join(name);
        fs::create_dir_all(&dir).unwrap();
        let role = format!(
            "title = {name:?}\nrepos = [{REPO:?}]\ncadence = [{cadence:?}]\n\
             engines = [{account:?}]\nwork = {{ from = \"issues\", label = \"for:{name}\" }}\n\
             paths = {{ write = [{:?}] }}\n{more}",
            self.shared()
        );
        fs::write(dir.join("role.toml"), role).unwrap();
        self
    }

    /// Adds a role of this kind that works in [`REPO`] and fires once a year. `more` is TOML as in
    /// [`role`](Self::role).
    pub fn role_of_kind(&self, kind: &str, accounts: &[&str], more: &str) -> &Self {
        let dir = self.home().join("roles").join(kind);
        fs::create_dir_all(&dir).unwrap();
        let role = format!(
            "kind = {kind:?}\nrepos = [{REPO:?}]\ncadence = [\"0 0 1 1 *\"]\nengines = {accounts:?}\n{more}"
        );
        fs::write(dir.join("role.toml"), role).unwrap();
        self
    }

    /// Adds the account `play`, whose sessions play this script.
    pub fn script(&self, script: &str) -> &Self {
        let path = self.root().join("play.toml");
        fs::write(&path, script).unwrap();
        self.account(
            "play",
            &format!("engine = \"rehearsal\"\nscript = {path:?}"),
        )
    }

    /// Makes an issue that is ready for a role, and returns its number.
    pub fn issue(&self, role: &str, title: &str, body: &str) -> u64 {
        let label = format!("for:{role}");
        let args = [
            "issue", "create", title, "--body", body, "--label", &label, "--json",
        ];
        self.ok(&args)["number"].as_u64().unwrap()
    }

    /// Pushes one commit with these files (path, content) to the remote's `main`.
    pub fn commit_to_main(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = self.seed().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        git(&self.seed(), &["add", "--all"]);
        self.push_main();
    }

    /// Takes up what was merged into the remote's `main` since, for the next commit to stand on it.
    pub fn catch_up(&self) {
        let remote = self.remote();
        let fetch = ["fetch", "--quiet", remote.to_str().unwrap(), "main"];
        git(&self.seed(), &fetch);
        git(
            &self.seed(),
            &["merge", "--quiet", "--ff-only", "FETCH_HEAD"],
        );
    }

    /// Pushes one commit without this file to the remote's `main`.
    pub fn remove_from_main(&self, path: &str) {
        fs::remove_file(self.seed().join(path)).unwrap();
        git(&self.seed(), &["add", "--all"]);
        self.push_main();
    }

    /// The same as [`commit_to_main`](Self::commit_to_main) with the name of a commit at `path`: a submodule that nobody has checked out.
    pub fn link_on_main(&self, path: &str) {
        let head = git(&self.seed(), &["rev-parse", "HEAD"]);
        let entry = format!("160000,{},{path}", head.trim());
        let link = ["update-index", "--add", "--cacheinfo", &entry];
        git(&self.seed(), &link);
        self.push_main();
    }

    /// Commits what is staged beside the remote, and pushes it.
    fn push_main(&self) {
        git(
            &self.seed(),
            &["commit", "--quiet", "--message", "A commit"],
        );
        let remote = self.remote();
        let push = [
            "push",
            "--quiet",
            // The other end does not hear what we say to our own git.
            "--receive-pack=git -c safe.directory=* receive-pack",
            remote.to_str().unwrap(),
            "HEAD:refs/heads/main",
        ];
        git(&self.seed(), &push);
    }

    /// `carson ARGS` as the operator would type it, not yet started.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.binary());
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root().join("operator"))
            .env("CARSON_HOME", self.home())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.root())
            .stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Runs `carson ARGS` to its end.
    #[must_use]
    pub fn carson(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Runs `carson ARGS`, which must succeed, and returns what it answered; `args` ask for JSON.
    #[must_use]
    pub fn ok(&self, args: &[&str]) -> Value {
        let ran = self.carson(args);
        assert_eq!(ran.code, Some(0), "carson {args:?}: {ran:#?}");
        ran.json()
    }

    /// Fires a role to its end: `carson fire ROLE --json`.
    #[must_use]
    pub fn fire(&self, role: &str) -> Ran {
        self.carson(&["fire", role, "--json"])
    }

    /// `carson firings ID --json`.
    #[must_use]
    pub fn firing(&self, id: &str) -> Value {
        self.ok(&["firings", id, "--json"])
    }

    /// Every pull request, open or not, oldest first.
    #[must_use]
    pub fn pulls(&self) -> Vec<Value> {
        let pulls = self.ok(&["pr", "list", "--all", "--json"]);
        pulls.as_array().unwrap().clone()
    }

    /// The labels of an issue.
    #[must_use]
    pub fn labels(&self, issue: u64) -> Vec<String> {
        let number = issue.to_string();
        let shown = self.ok(&["issue", "show", &number, "--repo", REPO, "--json"]);
        let labels = shown["issue"]["labels"].as_array().unwrap().iter();
        labels
            .map(|label| label.as_str().unwrap().to_owned())
            .collect()
    }

    /// A file of the local forge as it stands on the disk, such as `pulls/0002.md`.
    #[must_use]
    pub fn forge_file(&self, path: &str) -> String {
        let path = self.home().join("forge").join(REPO).join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs git in the remote; it must succeed.
    #[must_use]
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.remote(), args)
    }

    /// The tip of a branch of the remote.
    #[must_use]
    pub fn tip(&self, branch: &str) -> String {
        self.git(&["rev-parse", &format!("refs/heads/{branch}")])
            .trim()
            .to_owned()
    }

    /// The branches of the remote but for `main`.
    #[must_use]
    pub fn branches(&self) -> Vec<String> {
        let names = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        let own = names.lines().filter(|name| *name != "main");
        own.map(str::to_owned).collect()
    }

    /// Carson's own clone of [`REPO`].
    #[must_use]
    pub fn mirror(&self) -> PathBuf {
        self.home().join("mirrors").join(format!("{REPO}.git"))
    }

    /// Where Carson keeps what sessions made of [`REPO`].
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.home().join("kept").join(format!("{REPO}.git"))
    }

    /// What some ref of the remote or of the store reaches, as object names. In a directory that is no repository, as a power
    /// cut may leave one that was being made, nothing is kept.
    #[must_use]
    pub fn kept(&self) -> HashSet<String> {
        let mut kept = HashSet::new();
        for dir in [self.remote(), self.store()] {
            if is_repository(&dir) {
                let list = git(
                    &dir,
                    &["rev-list", "--objects", "--no-object-names", "--all"],
                );
                kept.extend(list.lines().map(str::to_owned));
            }
        }
        kept
    }

    /// The name that git gives to the content of a file.
    #[must_use]
    pub fn blob(&self, path: &Path) -> String {
        let path = path.to_str().unwrap();
        self.git(&["hash-object", "--no-filters", path])
            .trim()
            .to_owned()
    }

    /// The processes, by number, that a firing of this fleet started and that still run.
    #[must_use]
    pub fn descendants(&self) -> Vec<i32> {
        let home = format!("{}/", self.home().display()).into_bytes();
        let holds = |environ: &[u8]| {
            environ
                .split(|byte| *byte == 0)
                .filter_map(|one| one.strip_prefix(b"CARSON_WORKTREE="))
                .any(|tree| tree.starts_with(&home))
        };
        let items = fs::read_dir("/proc").unwrap();
        items
            .filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok())
            // A zombie has no environment any more.
            .filter(|pid: &i32| {
                fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| holds(&environ))
            })
            .collect()
    }

    /// The benches that are still there.
    #[must_use]
    pub fn benches(&self) -> Vec<PathBuf> {
        let Ok(items) = fs::read_dir(self.home().join("benches")) else {
            return Vec::new();
        };
        items.map(|item| item.unwrap().path()).collect()
    }

    /// The transcripts of a firing, one text a session, in their order.
    #[must_use]
    pub fn transcripts(&self, id: &str) -> Vec<String> {
        let dir = self.home().join("transcripts").join(id);
        let mut files: Vec<PathBuf> = fs::read_dir(&dir)
            .unwrap()
            .map(|item| item.unwrap().path())
            .collect();
        // What they were told lies beside them.
        files.retain(|file| !file.to_string_lossy().ends_with(".prompt.txt"));
        files.sort();
        files
            .iter()
            .map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned())
            .collect()
    }
}

/// The `carson` binary of the build that this test belongs to. `cargo xtask test` builds it, and
/// `carson-hook`, `carson-launch` and `carson-inspect` beside it.
#[must_use]
pub fn binary() -> PathBuf {
    // target/debug/deps/suite-0123abcd
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let binary = target.join("carson");
    let all = ["carson", "carson-hook", "carson-launch", "carson-inspect"];
    for wanted in all.map(|name| target.join(name)) {
        assert!(
            wanted.is_file(),
            "{} is not built: run `cargo xtask test`, or `cargo build --bins` first",
            wanted.display()
        );
    }
    binary
}

/// Every file below a directory with its content.
#[must_use]
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                let content = fs::read(&path).unwrap();
                files.insert(path, content);
            }
        }
    }
    files
}

/// Gives a tree to a user.
fn own(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for item in fs::read_dir(path).unwrap() {
            own(&item.unwrap().path(), user);
        }
    }
}

fn is_repository(dir: &Path) -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "rev-parse", "--git-dir"]);
    let asked = git.current_dir(dir).output();
    asked.is_ok_and(|answer| answer.status.success())
}

/// Runs git as nobody in particular; it must succeed.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        // The repository may belong to the user who runs `carson`.
        .args(["-c", "safe.directory=*"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Operator")
        .env("GIT_AUTHOR_EMAIL", "operator@localhost")
        .env("GIT_COMMITTER_NAME", "Operator")
        .env("GIT_COMMITTER_EMAIL", "operator@localhost")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
