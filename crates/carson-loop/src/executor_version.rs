//! What a task runs, so that two runs can be held against each other.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::EngineKind;
use carson_proc::{Command, Limits, capture, find_on_path};

use crate::caller::Caller;
use crate::digest::Hasher;
use crate::words::Words;

/// How long an agent CLI may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a program that are hashed.
const PROGRAM: u64 = 64 << 20;

/// What is known of a program, until its file changes.
#[derive(Clone, Debug, Default)]
pub struct ExecutorVersion {
    /// The file, by its path and what the system says of it.
    of: Option<(PathBuf, (u64, u64, i64, i64))>,
    version: Option<String>,
}

impl ExecutorVersion {
    /// What runs now: an agent CLI by its own word, any other program by the hash of its file. A program that nobody knows
    /// is not called: it would do what it does.
    pub async fn of(&mut self, task: &Words, root: &Path, caller: &Caller) -> Option<String> {
        let program = program(task, root, caller)?;
        let found = program.metadata().ok()?;
        let print = (found.ino(), found.size(), found.mtime(), found.mtime_nsec());
        let key = Some((program.clone(), print));
        if self.of != key {
            self.of = key;
            let said = match is_agent(task) {
                true => said(&program, root, caller).await,
                false => None,
            };
            self.version = said.or_else(|| hash(&program));
        }
        self.version.clone()
    }
}

fn program(task: &Words, root: &Path, caller: &Caller) -> Option<PathBuf> {
    let name = task.program()?;
    if let Some(below) = name.strip_prefix("~/") {
        return Some(caller.home()?.join(below));
    }
    match name.contains('/') {
        true => Some(root.join(name)),
        false => find_on_path(Path::new(name), caller.variable("PATH")),
    }
}

/// Whether it is an agent CLI that Carson knows.
fn is_agent(task: &Words) -> bool {
    let name = task.program().map(Path::new).and_then(Path::file_name);
    let name = name.and_then(|name| name.to_str());
    EngineKind::all().any(|engine| engine.cli().is_some() && engine.cli() == name)
}

async fn said(program: &Path, root: &Path, caller: &Caller) -> Option<String> {
    let command = Command::new(program, root)
        .arg("--version")
        .exact_env(caller.env.clone());
    let done = capture(&command, &Limits::within(PATIENCE)).await.ok()?;
    let text = done.stdout.text();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line: String = line.chars().take(100).collect();
    done.success().then_some(line)
}

fn hash(program: &Path) -> Option<String> {
    let mut file = File::open(program).ok()?.take(PROGRAM);
    let (mut hasher, mut buffer) = (Hasher::default(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(format!("sha256:{}", hasher.end().short())),
            read => hasher.add(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use carson_redact::Redactor;

    use super::*;

    #[tokio::test]
    async fn a_known_cli_says_it_and_any_other_program_is_not_called() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, line: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        make("claude", "echo; echo \"2.1.9 ($1)\"");
        make("fix.sh", "touch called; echo 7");
        let path = std::env::var_os("PATH").unwrap();
        let dirs = [dir.path().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&path));
        let env = [("PATH".into(), std::env::join_paths(dirs).unwrap())];
        let caller = Caller::new(env, "carson".into(), Redactor::default());
        let mut known = ExecutorVersion::default();
        let line = |text: &str| Words::line(text).unwrap();
        let said = known
            .of(&line("A=1 claude -p 'x'"), dir.path(), &caller)
            .await;
        assert_eq!(said.as_deref(), Some("2.1.9 (--version)"));
        let one = known
            .of(&line("./fix.sh"), dir.path(), &caller)
            .await
            .unwrap();
        assert!(one.starts_with("sha256:"), "{one}");
        make("fix.sh", "touch called; echo 88");
        let other = known
            .of(&line("fix.sh now"), dir.path(), &caller)
            .await
            .unwrap();
        assert_ne!(one, other);
        assert!(!dir.path().join("called").exists());
        assert_eq!(
            known.of(&line("(cd x; y)"), dir.path(), &caller).await,
            None
        );
    }
}
