//! Three samples, made here: how long until the first test result in a developer's warm checkout, in a
//! first firing, whose setup runs, and in a later one; and the check of its clean room beside the
//! developer's, by itself and with everything around it.
//!
//! What they depend on comes from the package registries, through their ordinary clients.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::sample::Sample;
use super::scene::stage;
use super::{Figure, output, tempdir};
use crate::workspace::outside_cargo;

/// How often the check runs in the warm checkout, and how many firings there are after the first.
const RUNS: usize = 5;

/// Before the nanoseconds that the check of a clean room took, in what it prints.
const TOOK: &str = "nanoseconds:";

/// Variables by which an operator says how the registries are reached; the sessions have them too.
const WAYS: [&str; 10] = [
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "UV_INDEX_URL",
    "npm_config_registry",
    "CARGO_REGISTRIES_CRATES_IO_PROTOCOL",
    "CARGO_HTTP_CAINFO",
];

/// A repository in one language.
struct Kind {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Written once, before the first commit: what is locked.
    lock: &'static [&'static str],
    setup: &'static [&'static str],
    check: &'static str,
    /// What a change of the sources is, in the shell.
    change: &'static str,
    /// How many packages it depends on, in the shell, and how many that must be at least.
    count: (&'static str, usize),
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "Rust",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"sample\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\
                 [dependencies]\nclap = { version = \"4\", features = [\"derive\"] }\n\
                 serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n\
                 regex = \"1\"\nchrono = \"0.4\"\nurl = \"2\"\ntempfile = \"3\"\n\
                 tokio = { version = \"1\", features = [\"rt-multi-thread\", \"macros\", \"net\"] }\n",
            ),
            (
                "src/lib.rs",
                "pub fn host(text: &str) -> Option<String> {\n    let url = url::Url::parse(text).ok()?;\n    \
                 url.host_str().map(str::to_owned)\n}\n\n#[test]\nfn a_host_is_found() {\n    \
                 assert_eq!(host(\"http://one.test/x\").as_deref(), Some(\"one.test\"));\n}\n",
            ),
            (".gitignore", "/target\n"),
        ],
        lock: &["cargo generate-lockfile --quiet"],
        setup: &["cargo test --quiet --locked --no-run"],
        check: "cargo test --quiet --locked --offline",
        change: "echo \"// $(date +%s%N)\" >> src/lib.rs",
        count: ("grep -c '^name = ' Cargo.lock", 50),
    },
    Kind {
        name: "Node",
        files: &[
            (
                "package.json",
                "{\"name\": \"sample\", \"version\": \"1.0.0\", \"private\": true, \
                 \"scripts\": {\"test\": \"jest\"}, \
                 \"dependencies\": {\"express\": \"^4.21.0\"}, \
                 \"devDependencies\": {\"jest\": \"^29.7.0\"}}\n",
            ),
            (
                "app.js",
                "const express = require('express');\nmodule.exports = () => express();\n",
            ),
            (
                "app.test.js",
                "const app = require('./app');\ntest('it is there', () => expect(app()).toBeDefined());\n",
            ),
            (".gitignore", "/node_modules\n"),
        ],
        lock: &["npm install --package-lock-only --no-audit --no-fund --loglevel error"],
        setup: &["npm ci --no-audit --no-fund --loglevel error"],
        check: "npm test --silent",
        change: "echo \"// $(date +%s%N)\" >> app.js",
        count: ("grep -c '\"node_modules/' package-lock.json", 300),
    },
    Kind {
        name: "Python",
        files: &[
            (
                "requirements.txt",
                "pytest==8.3.4\nrequests==2.32.3\njinja2==3.1.4\nclick==8.1.7\nattrs==24.2.0\n",
            ),
            (
                "sample.py",
                "import jinja2\n\n\ndef hello(name):\n    return jinja2.Template('hello {{ name }}').render(name=name)\n",
            ),
            (
                "test_sample.py",
                "import sample\n\n\ndef test_hello():\n    assert sample.hello('you') == 'hello you'\n",
            ),
            (".gitignore", "/.venv\n__pycache__\n/.pytest_cache\n"),
        ],
        lock: &[],
        setup: &[
            "python3 -m venv .venv",
            ".venv/bin/pip install --quiet --no-input --disable-pip-version-check -r requirements.txt",
        ],
        check: ".venv/bin/python -m pytest --quiet",
        change: "echo \"# $(date +%s%N)\" >> sample.py",
        count: ("grep -c '==' requirements.txt", 5),
    },
];

/// Measures all three.
///
/// # Errors
/// When a registry cannot be reached, something cannot be started, or a firing did not end OK.
pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for kind in &KINDS {
        println!("bench: a sample in {}", kind.name);
        figures.extend(Scene::new(carson, kind)?.figures()?);
    }
    Ok(figures)
}

/// One sample: its remote, a developer's checkout of it, and a home that fires in it.
struct Scene<'a> {
    kind: &'a Kind,
    root: PathBuf,
    carson: PathBuf,
}

/// What one firing took.
struct Took {
    /// Until its session had the first test result.
    result: Duration,
    /// The check in its clean room.
    check: Duration,
    /// The look at the work, the clean room, and the check in it.
    verify: Duration,
}

impl<'a> Scene<'a> {
    fn new(carson: &Path, kind: &'a Kind) -> anyhow::Result<Self> {
        let scene = Self {
            kind,
            root: tempdir("carson-bench-sample")?,
            carson: carson.to_owned(),
        };
        let checkout = scene.checkout();
        for (path, text) in kind.files {
            let path = checkout.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&checkout))?;
            fs::write(path, text)?;
        }
        for line in kind.lock {
            scene.shell(line)?;
        }
        let (command, least) = kind.count;
        let counted: usize = scene.shell(command)?.trim().parse()?;
        ensure!(
            counted >= least,
            "the {} sample has {counted} packages only",
            kind.name
        );
        scene.shell(
            "git init --quiet --initial-branch=main && git add --all && git commit --quiet -m Sample
             git clone --quiet --bare . ../remote.git",
        )?;
        scene.home()?;
        Ok(scene)
    }

    fn checkout(&self) -> PathBuf {
        self.root.join("checkout")
    }

    /// A role whose session changes a source, runs the check, and notes when it had its result.
    fn home(&self) -> anyhow::Result<()> {
        let (agent, home) = (self.root.join("agent"), self.root.join("home"));
        let Kind { check, change, .. } = self.kind;
        let script = format!(
            "#!/bin/sh\ncat >/dev/null\n{change}\n\
             {{ {check}; }} >/dev/null 2>&1 || {{ echo '[BLOCKED] the check failed'; exit; }}\n\
             date +%s%N > result.txt\n\
             {{ git add --all && git commit --quiet -m Work; }} >/dev/null 2>&1\necho '[OK] done'\n"
        );
        fs::write(&agent, script)?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        fs::create_dir_all(home.join("roles/worker"))?;
        let settings = format!(
            "[fleet]\nname = \"bench\"\nzone = \"UTC\"\n\
             [repos.sample]\nurl = {:?}\nbase = \"main\"\nsetup = {:?}\n\
             [accounts.sh]\nengine = \"command\"\nbinary = {agent:?}\n",
            self.root.join("remote.git"),
            self.kind.setup,
        );
        fs::write(home.join("carson.toml"), settings)?;
        let timed = format!(
            "began=$(date +%s%N); {check}; ended=$?; echo \"{TOOK} $(($(date +%s%N) - began))\"; exit $ended"
        );
        let ways: Vec<&str> = WAYS
            .into_iter()
            .filter(|name| std::env::var_os(name).is_some())
            .collect();
        let role = format!(
            "title = \"Worker\"\nrepos = [\"sample\"]\ncadence = [\"0 0 1 1 *\"]\nengines = [\"sh\"]\n\
             work = {{ from = \"issues\", label = \"for:worker\" }}\nstages = [\"execute\", \"verify\"]\n\
             pass = {ways:?}\n[limits]\nmax_open_prs = 1000\n\
             [promise]\nrun = {timed:?}\ntimeout = \"10m\"\n"
        );
        fs::write(home.join("roles/worker/role.toml"), role)?;
        Ok(())
    }

    fn figures(&self) -> anyhow::Result<Vec<Figure>> {
        for line in self.kind.setup {
            self.shell(line)?;
        }
        self.changed_and_checked()?;
        let developer = (0..RUNS).map(|_| self.changed_and_checked());
        let developer = Sample::new(developer.collect::<anyhow::Result<_>>()?);
        let cold = self.fire()?;
        let warm = (0..RUNS).map(|_| self.fire());
        let warm = warm.collect::<anyhow::Result<Vec<Took>>>()?;
        let results = Sample::new(warm.iter().map(|took| took.result).collect());
        let checked = Sample::new(warm.iter().map(|took| took.check).collect());
        let verified = Sample::new(warm.iter().map(|took| took.verify).collect());
        let named = |got: String| format!("{}: {got}", self.kind.name);
        Ok(vec![
            Figure {
                what: "first test result, a first firing (its setup runs)",
                got: named(format!("{:.1} s", cold.result.as_secs_f64())),
                target: "",
                beside: String::new(),
            },
            Figure {
                what: "the same, a later firing",
                got: named(results.to_string()),
                target: "",
                beside: format!(
                    "developer, warm: {developer} (a firing takes {:.2}x)",
                    developer.ratio(&results)
                ),
            },
            Figure {
                what: "the check in its clean room",
                got: named(checked.to_string()),
                target: "p50 at most 1.3x",
                beside: format!("the developer's ({:.2}x)", developer.ratio(&checked)),
            },
            Figure {
                what: "the whole stage: a look at the work, its clean room, the check in it",
                got: named(verified.to_string()),
                target: "",
                beside: format!("the developer's ({:.2}x)", developer.ratio(&verified)),
            },
        ])
    }

    /// The developer changes a source and runs the check.
    fn changed_and_checked(&self) -> anyhow::Result<Duration> {
        self.shell(self.kind.change)?;
        let started = Instant::now();
        self.shell(self.kind.check)?;
        Ok(started.elapsed())
    }

    fn shell(&self, script: &str) -> anyhow::Result<String> {
        let mut sh = outside_cargo("/bin/sh");
        sh.args(["-ec", script])
            .current_dir(self.checkout())
            .stdin(Stdio::null());
        output(&mut sh)
    }

    fn carson(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = outside_cargo(&self.carson);
        command
            .args(args)
            .env("CARSON_HOME", self.root.join("home"))
            .stdin(Stdio::null());
        output(&mut command)
    }

    fn fire(&self) -> anyhow::Result<Took> {
        let issue = ["issue", "create", "Work", "--body", "To do."];
        self.carson(&[&issue[..], &["--label", "for:worker"]].concat())?;
        let began = SystemTime::UNIX_EPOCH.elapsed()?;
        let said = self.carson(&["fire", "worker", "--json"])?;
        ensure!(said.contains("\"OK\""), "a firing was not OK: {said}");
        let row: Value = serde_json::from_str(&said)?;
        let id = row["id"].as_str().context("a firing has no id")?;
        let row: Value = serde_json::from_str(&self.carson(&["firings", id, "--json"])?)?;
        let branch = row["branch"].as_str().context("a firing has no branch")?;
        let shown = format!("git --git-dir ../remote.git show {branch}:result.txt");
        let result = Duration::from_nanos(self.shell(&shown)?.trim().parse()?);
        Ok(Took {
            result: result.saturating_sub(began),
            check: self.check_of(id)?,
            verify: stage(&row, "verify")?,
        })
    }

    /// How long the check of a firing took, by what it printed.
    fn check_of(&self, id: &str) -> anyhow::Result<Duration> {
        for item in fs::read_dir(self.root.join("home/transcripts").join(id))? {
            let path = item?.path();
            if path.to_string_lossy().ends_with("-verify.txt") {
                let said = fs::read_to_string(&path)?;
                let took = said.lines().find_map(|line| line.strip_prefix(TOOK));
                let took = took.context("the check does not say how long it took")?;
                return Ok(Duration::from_nanos(took.trim().parse()?));
            }
        }
        anyhow::bail!("a firing has no output of its check")
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
