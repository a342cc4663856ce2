//! A repository of ralph-loop's, and a Codex that is a script.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Clock;
use carson_loop::stories::ralph::{Given, To, run};
use carson_proc::{Cancel, Command, Limits, capture, find_on_path};
use serde_json::{Value, json};

use super::table::Case;

/// What a script of a case may call, and where it finds things.
const HEAD: &str = r#"#!/bin/sh
message=; last=
for word in "$@"; do
  if [ "$last" = --output-last-message ]; then message="$word"; fi
  last="$word"
done
cat > "$OUT/prompt"
story=$(sed -n 's/^Story ID: //p' "$OUT/prompt")
count() { echo x >> "$OUT/count"; wc -l < "$OUT/count"; }
report() { printf '# %s\n' "$*" > "$message"; }
"#;

pub struct Bench {
    dir: tempfile::TempDir,
    pub root: PathBuf,
}

pub struct Ran {
    pub code: u8,
    pub output: String,
    pub errors: String,
}

impl Bench {
    pub fn new(case: &Case) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&root).unwrap();
        let bench = Self { dir, root };
        let stories: Vec<Value> = case
            .plan
            .iter()
            .map(|(id, mode, scope, more)| story(id, mode, scope, more))
            .collect();
        let prd = json!({
            "schema_version": "1.0.0",
            "project": "test",
            "defaults": {
                "mode_default": case.mode, "max_stories_default": "all_open", "model_default": "gpt",
                "reasoning_effort_default": "high", "report_dir": "audit",
                "sandbox_by_mode": {"audit": "read-only", "linting": "read-only", "fixing": "workspace-write"},
                "lint_detection_order": ["Makefile"]
            },
            "stories": stories
        });
        bench.write("prd.json", &format!("{prd:#}\n"));
        bench.write("CODEX.md", "# The policy\n");
        bench.write("docs/allowed.md", "base\n");
        bench.write(".env", "secret\n");
        bench.write("README.md", "base\n");
        for (name, text) in case.there {
            bench.write(name, text);
        }
        for (key, value) in case.prd {
            bench.set(key, value);
        }
        bench
    }

    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A link is said so: `-> outside`.
        match text.strip_prefix("-> ") {
            Some(to) => std::os::unix::fs::symlink(self.outside().join(to), path).unwrap(),
            None => fs::write(path, text).unwrap(),
        }
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).symlink_metadata().is_ok()
    }

    /// Sets something in the PRD: `defaults/max_stories_default`, `stories/0/title`.
    pub fn set(&self, key: &str, value: &str) {
        let mut prd: Value = serde_json::from_str(&self.read("prd.json")).unwrap();
        let mut at = &mut prd;
        for part in key.split('/') {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[part],
            };
        }
        *at = serde_json::from_str(value).unwrap();
        self.write("prd.json", &format!("{prd:#}\n"));
    }

    /// How far each story is.
    pub fn stories(&self) -> BTreeMap<String, String> {
        let prd: Value = serde_json::from_str(&self.read("prd.json")).unwrap_or_default();
        let state = |story: &Value| {
            let id = story["id"].as_str()?.to_owned();
            let state = match (&story["passes"], &story["skipped"]) {
                (Value::Bool(true), _) => format!(
                    "passes {}",
                    story["report_path"].as_str().unwrap_or_default()
                ),
                (_, Value::Bool(true)) => format!(
                    "skipped {}",
                    story["skip_reason"].as_str().unwrap_or_default()
                ),
                _ => "open".to_owned(),
            };
            Some((id, state))
        };
        prd["stories"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(state)
            .collect()
    }

    pub async fn run(
        &self,
        words: &[String],
        env: &[(&str, &str)],
        codex: &str,
        cancel: &Cancel,
    ) -> Ran {
        let given = Given {
            prd: self.root.join("prd.json"),
            policy: None,
            root: None,
            executor: None,
            env: self.env(env, codex),
            cwd: self.root.clone(),
            clock: Clock::system(),
            redactor: carson_redact::Redactor::default(),
            cancel: cancel.clone(),
        };
        let (mut output, mut errors) = (String::new(), String::new());
        let mut told = |to, text: &str| match to {
            To::Output => output += &format!("{text}\n"),
            To::Error => errors += &format!("{text}\n"),
        };
        let code = run(words, &given, &mut told).await;
        Ran {
            code,
            output,
            errors,
        }
    }

    fn env(&self, more: &[(&str, &str)], codex: &str) -> Vec<(OsString, OsString)> {
        let bin = self.outside().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let file = bin.join("codex");
        // A case without one has none.
        if codex != "none" {
            fs::write(&file, format!("{HEAD}{codex}\n")).unwrap();
            fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        let dirs = [bin].into_iter().chain(std::env::split_paths(&path));
        let mut env: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), std::env::join_paths(dirs).unwrap()),
            ("HOME".into(), self.outside().into()),
            ("OUT".into(), self.outside().into()),
        ];
        env.extend(
            more.iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        );
        env
    }

    pub async fn git(&self, words: &[&str]) -> String {
        let git = find_on_path(Path::new("git"), std::env::var_os("PATH").as_deref()).unwrap();
        let command = Command::new(git, &self.root)
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(words.iter().copied())
            .exact_env(self.env(&[], "none"));
        let done = capture(&command, &Limits::within(Duration::from_secs(30)))
            .await
            .unwrap();
        assert!(done.success(), "git {words:?}: {}", done.stderr.text());
        done.stdout.text()
    }
}

fn story(id: &str, mode: &str, scope: &str, more: &str) -> Value {
    let mut story = json!({
        "id": id, "title": format!("Story {id}"), "priority": 1, "mode": mode,
        "scope": serde_json::from_str::<Value>(scope).unwrap(),
        "acceptance_criteria": [format!("Created audit/{id}.md with it")], "passes": false
    });
    let more: Value = serde_json::from_str(more).unwrap();
    story
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    story
}
