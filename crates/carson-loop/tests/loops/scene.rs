//! A directory with a loop in it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_loop::api;
use carson_loop::caller::Caller;
use carson_loop::config::{Changes, Config};
use carson_loop::error::LoopError;
use carson_loop::meta::Meta;
use carson_loop::place::{Layout, Place};
use carson_loop::run::{self, Options, Step, Wish};
use carson_loop::state::State;
use carson_loop::words::Words;
use carson_proc::{Cancel, Command, Limits, become_subreaper, capture, find_on_path};
use carson_redact::Redactor;
use tempfile::TempDir;

pub struct Scene {
    _dir: TempDir,
    pub root: PathBuf,
    pub place: Place,
    pub caller: Caller,
    pub cancel: Cancel,
}

impl Scene {
    /// A loop with a task and a promise, both lines for `sh`.
    pub fn new(promise: &str, task: &str) -> Self {
        let words = |text: &str| Words::line(text).unwrap();
        Self::with(&Config::new(words(promise), words(task)))
    }

    pub fn with(config: &Config) -> Self {
        become_subreaper().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let place = api::init(&root, Layout::Native, config).unwrap();
        let home = root.join(".carson/home");
        fs::create_dir(&home).unwrap();
        let env: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), home.into()),
        ];
        Self {
            _dir: dir,
            root,
            place,
            caller: Caller::new(env, "carson".into(), Redactor::default()),
            cancel: Cancel::new(),
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        let file = self.root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        let file = self.root.join(name);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).symlink_metadata().is_ok()
    }

    pub fn change(&self, changes: &Changes) {
        api::update(&self.place, &self.caller, changes).unwrap();
    }

    pub async fn run(&self) -> State {
        self.run_again(Wish::default()).await.unwrap()
    }

    pub async fn run_again(&self, wish: Wish) -> Result<State, LoopError> {
        self.watched(wish, &mut |_| {}).await
    }

    pub async fn watched(
        &self,
        wish: Wish,
        watch: &mut (dyn FnMut(Step<'_>) + Send),
    ) -> Result<State, LoopError> {
        let options = Options {
            wish,
            sandbox: None,
        };
        run::run(&self.place, &self.caller, &options, &self.cancel, watch).await
    }

    pub fn meta(&self, attempt: u32) -> Meta {
        let text = fs::read_to_string(self.place.attempt(attempt).join("meta.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Runs git as nobody configured it; what it prints.
    pub async fn git(&self, args: &[&str]) -> String {
        git(&self.root, args).await
    }

    /// A repository with everything that is there in its first commit.
    pub async fn repository(&self) {
        self.git(&["init", "--quiet"]).await;
        // The task commits, too.
        self.git(&["config", "user.name", "t"]).await;
        self.git(&["config", "user.email", "t@t"]).await;
        self.git(&["add", "--all"]).await;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "first"])
            .await;
    }
}

pub async fn git(dir: &Path, args: &[&str]) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let command = Command::new(find_on_path(Path::new("git"), Some(&path)).unwrap(), dir)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .env("PATH", path)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let done = capture(&command, &Limits::within(Duration::from_secs(30)))
        .await
        .unwrap();
    assert!(done.success(), "{args:?}: {}", done.stderr.text());
    done.stdout.text()
}
