//! A tree with a plan, and executors that are lines of `sh`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_loop::caller::Caller;
use carson_loop::stories::native::{
    Asked, Came, Given, Place, Row, StoriesError, Told, replayed, run, standing,
};
use carson_loop::tree::{Change, Look, Rules, Snapshot};
use carson_proc::{Cancel, Command, Limits, capture, find_on_path};
use serde_json::{Value, json};

/// One.
pub struct Tree {
    pub dir: tempfile::TempDir,
    pub root: PathBuf,
}

/// What a run came to, and what it told.
pub struct Ran {
    pub came: Result<Came, StoriesError>,
    pub told: Vec<Told>,
}

impl Ran {
    /// What a run that came to its end came to.
    pub fn came(&self) -> &Came {
        self.came
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}\n{:#?}", self.told))
    }

    /// Why attempts ended as they did.
    pub fn why(&self) -> Vec<String> {
        let why = |told: &Told| match told {
            Told::Attempt { why, .. } => why.clone(),
            _ => Vec::new(),
        };
        self.told.iter().flat_map(why).collect()
    }

    /// How attempts ended.
    pub fn outcomes(&self) -> Vec<&'static str> {
        let outcome = |told: &Told| match told {
            Told::Attempt { outcome, .. } => Some(outcome.as_str()),
            _ => None,
        };
        self.told.iter().filter_map(outcome).collect()
    }
}

impl Tree {
    /// Without a repository.
    pub fn bare() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&root).unwrap();
        let tree = Self { dir, root };
        for (name, text) in [
            ("docs/a.md", "a\n"),
            ("src/keep.txt", "keep\n"),
            (".env", "SECRET=1\n"),
            (".gitignore", ".env\ntarget/\nsecrets/\n"),
        ] {
            tree.write(name, text);
        }
        tree
    }

    /// In a repository with two commits, on `main`.
    pub async fn new() -> Self {
        let tree = Self::bare();
        tree.git("init -q -b main").await;
        tree.git("commit -q --allow-empty -m first").await;
        tree.git("add .").await;
        tree.git("commit -q -m second").await;
        tree
    }

    /// Where files are that are no part of it.
    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).symlink_metadata().is_ok()
    }

    /// The environment that everything here has.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let outside = self.outside().as_os_str().to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let text = |name: &str, value: &str| (name.into(), value.into());
        vec![
            ("PATH".into(), path),
            ("HOME".into(), outside.clone()),
            ("OUT".into(), outside),
            text("GIT_CONFIG_NOSYSTEM", "1"),
            text("GIT_AUTHOR_NAME", "t"),
            text("GIT_AUTHOR_EMAIL", "t@t"),
            text("GIT_COMMITTER_NAME", "t"),
            text("GIT_COMMITTER_EMAIL", "t@t"),
        ]
    }

    /// What git prints.
    pub async fn git(&self, words: &str) -> String {
        let git = find_on_path(Path::new("git"), std::env::var_os("PATH").as_deref()).unwrap();
        let command = Command::new(git, &self.root)
            .args(words.split(' '))
            .exact_env(self.env());
        let done = capture(&command, &Limits::within(Duration::from_secs(30)))
            .await
            .unwrap();
        assert!(done.success(), "git {words}: {}", done.stderr.text());
        done.stdout.text()
    }

    /// Writes the plan.
    pub fn plan(&self, stories: &[Value]) {
        let plan = json!({"version": 1, "project": "test", "stories": stories});
        self.write("stories.json", &format!("{plan:#}\n"));
    }

    pub fn place(&self) -> Place {
        Place::find(&self.root.join("stories.json"), None, &self.root).unwrap()
    }

    pub fn given(&self) -> Given {
        Given {
            caller: Caller::new(
                self.env(),
                PathBuf::from("carson"),
                carson_redact::Redactor::default(),
            ),
            cancel: Cancel::new(),
        }
    }

    /// Runs the plan with a script for `sh`, which finds its story in `$CARSON_STORY_ID`.
    pub async fn run(&self, script: &str) -> Ran {
        self.run_as(script, Asked::default()).await
    }

    pub async fn run_as(&self, script: &str, asked: Asked) -> Ran {
        self.run_given(script, asked, &self.given()).await
    }

    pub async fn run_given(&self, script: &str, asked: Asked, given: &Given) -> Ran {
        let asked = Asked {
            executor: Some(self.executor(script)),
            ..asked
        };
        let mut told = Vec::new();
        let came = run(&self.place(), &asked, given, &mut |one| told.push(one)).await;
        Ran { came, told }
    }

    pub fn executor(&self, script: &str) -> String {
        let file = self.outside().join("executor.sh");
        fs::write(&file, script).unwrap();
        format!("sh {}", file.display())
    }

    /// Every story: id, status, attempts, how the last one ended.
    pub fn rows(&self) -> Vec<(String, &'static str, u32, String)> {
        let row = |row: Row| {
            (
                row.id,
                row.status,
                row.attempts,
                row.last.unwrap_or_default(),
            )
        };
        standing(&self.place())
            .unwrap()
            .stories
            .into_iter()
            .map(row)
            .collect()
    }

    /// All of it but what is Carson's and git's.
    pub fn snapshot(&self) -> Snapshot {
        Look::at(&self.root, &Rules::everything(&self.root))
            .snapshot()
            .unwrap()
    }

    /// What differs from then; the plan does.
    pub fn changes(&self, before: &Snapshot) -> Vec<String> {
        let changes = before.changes(&self.snapshot());
        let others = changes
            .iter()
            .filter(|change| change.path.as_path() != Path::new("stories.json"));
        others.map(|change: &Change| change.to_string()).collect()
    }

    /// The refs, but those that keep what was undone; `HEAD` and the files that say what git does.
    pub async fn refs(&self) -> String {
        let refs = self
            .git("for-each-ref --format=%(refname)=%(objectname)")
            .await;
        let refs: Vec<&str> = refs
            .lines()
            .filter(|line| !line.starts_with("refs/carson/"))
            .collect();
        let hooks: Vec<_> = fs::read_dir(self.root.join(".git/hooks"))
            .unwrap()
            .map(|one| one.unwrap().path())
            .collect();
        let (head, config) = (self.read(".git/HEAD"), self.read(".git/config"));
        format!("{refs:?} {head} {config} {}", hooks.len())
    }

    /// The plan in its file is what the events make.
    pub fn hold(&self) {
        let replayed = replayed(&self.place()).unwrap().unwrap();
        assert!(
            replayed.is_same,
            "{}\n{}",
            replayed.document.pretty(),
            self.read("stories.json")
        );
        assert_eq!(replayed.document.pretty(), self.read("stories.json"));
    }

    /// The events, as they stand.
    pub fn events(&self) -> Vec<Value> {
        let text = self.read(".carson/stories/events.jsonl");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A story with a scope of `docs/`.
pub fn story(id: &str, more: Value) -> Value {
    let mut story = json!({"id": id, "priority": 1, "title": format!("Story {id}"), "prompt": "Do it.", "scope": ["docs/"]});
    let object = story.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    story
}
