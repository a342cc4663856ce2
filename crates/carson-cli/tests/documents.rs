//! Commands of the documents that need no network, no agent and nothing that happened before, typed in a scratch
//! home in their order. What a firing needs is typed by the suite (`cold_start`).
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a reader has a shell and git")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What is typed here, by its first words, and whether it may also end with 1: some of them answer a question.
const TYPED: [(&str, bool); 27] = [
    ("issue create", false),
    ("status", false),
    ("firings --since", false),
    ("why implementer", false),
    ("why issue-7", true),
    ("brief", false),
    ("cost", false),
    ("usage", false),
    ("outcomes", false),
    ("engine list", false),
    ("engine status", false),
    ("workspaces", false),
    ("hosts", false),
    ("backup make", false),
    ("memory export", false),
    ("memory import", false),
    ("memory gate --dry-run", false),
    ("memory lift", false),
    ("memory list", false),
    ("memory recall", false),
    ("pr list", false),
    ("pause --reason", false),
    ("undo --since 12h --dry-run", false),
    ("undo --since 12h --yes", false),
    ("resume", false),
    ("agent new links", false),
    ("agent new nightly", false),
];

/// What an agent CLI answers that is asked for nothing but its version.
const CLAUDE: &str = "#!/bin/sh\necho '2.1.329 (Claude Code)'\n";

struct Reader {
    dir: TempDir,
}

impl Reader {
    fn new() -> Self {
        let reader = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let (bin, widget) = (reader.at("bin"), reader.at("home/src/widget"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&widget).unwrap();
        fs::write(bin.join("claude"), CLAUDE).unwrap();
        fs::set_permissions(bin.join("claude"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::write(widget.join("Makefile"), "test:\n\ttest -s Makefile\n").unwrap();
        let done = reader.types(
            "cd src/widget && git init --quiet --initial-branch=main && git add . && \
             git -c user.name=x -c user.email=x@localhost commit --quiet -m One && \
             carson init --yes",
        );
        assert!(done.status.success(), "{}", said(&done));
        reader
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn types(&self, line: &str) -> Output {
        let built = Path::new(env!("CARGO_BIN_EXE_carson")).parent().unwrap();
        let mut path = vec![self.at("bin"), built.to_owned()];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        Command::new("/bin/sh")
            .args(["-c", line])
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.at("home"))
            .current_dir(self.at("home"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn said(done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "{}\n{}{}",
        done.status,
        text(&done.stdout),
        text(&done.stderr)
    )
}

/// The lines of blocks for a shell that begin with `carson`, of every document.
fn lines() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let mut files = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap();
    files.extend(docs.map(|item| item.unwrap().path()));
    files.retain(|file| file.extension().is_some_and(|end| end == "md"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut is_inside = false;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                is_inside = language == "sh";
            } else if is_inside && line.starts_with("carson ") {
                found.push((name.clone(), line.to_owned()));
            }
        }
    }
    found
}

#[test]
fn what_the_documents_tell_to_type_does_what_it_says() {
    let reader = Reader::new();
    let mut typed = vec![0; TYPED.len()];
    for (name, line) in lines() {
        let words = line.strip_prefix("carson ").unwrap();
        let begins = |known: &str| {
            let rest = words.strip_prefix(known);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let Some(at) = TYPED.iter().position(|(known, _)| begins(known)) else {
            continue;
        };
        typed[at] += 1;
        let done = reader.types(&line);
        let code = done.status.code();
        let may_be_one = TYPED[at].1 && code == Some(1);
        assert!(
            code == Some(0) || may_be_one,
            "{name}: {line}\n{}",
            said(&done)
        );
    }
    let never: Vec<&str> = TYPED
        .iter()
        .zip(&typed)
        .filter(|(_, typed)| **typed == 0)
        .map(|((words, _), _)| *words)
        .collect();
    assert!(never.is_empty(), "no document says: {never:?}");
}
