//! Which checks a repository seems to have, by the files at its top: what a prompt proposes.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use carson_proc::find_on_path;
use regex::bytes::Regex;

use super::pattern::of_bytes as pattern;

use crate::stories::json::Json;

/// Longest file that is read for this.
const LONGEST: u64 = 4 * 1024 * 1024;

static TARGET: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m-u)^[ \t]*(lint|test):"));

/// A command, and what it was read off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it was read off.
    pub source: &'static str,
    /// The command.
    pub command: String,
}

/// The checks of the repository at `root`, of programs that are on `path`.
#[must_use]
pub fn detected(root: &Path, path: Option<&OsStr>) -> Vec<Check> {
    let look = Look { root, path };
    let mut found = look.node();
    found.extend(look.python());
    found.extend(look.one("go.mod", "go", "go", "go test ./..."));
    found.extend(look.one("Cargo.toml", "cargo", "rust", "cargo test"));
    found.extend(look.make());
    found
}

struct Look<'l> {
    root: &'l Path,
    path: Option<&'l OsStr>,
}

impl Look<'_> {
    fn file(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }

    fn program(&self, name: &str) -> bool {
        find_on_path(Path::new(name), self.path).is_some()
    }

    fn text(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.root.join(name);
        let meta = fs::metadata(&path).ok()?;
        (meta.is_file() && meta.len() <= LONGEST).then(|| fs::read(path).ok())?
    }

    fn one(&self, file: &str, program: &str, source: &'static str, command: &str) -> Option<Check> {
        let is_there = self.file(file) && self.program(program);
        is_there.then(|| check(source, command))
    }

    fn node(&self) -> Vec<Check> {
        let runner = if self.file("pnpm-lock.yaml") && self.program("pnpm") {
            "pnpm run"
        } else if self.file("yarn.lock") && self.program("yarn") {
            "yarn"
        } else if self.program("npm") {
            "npm run"
        } else {
            return Vec::new();
        };
        let package = self.text("package.json").unwrap_or_default();
        let package = Json::parse(&String::from_utf8_lossy(&package)).unwrap_or(Json::Null);
        let has = |script: &&&str| {
            let script = package
                .get("scripts")
                .and_then(|scripts| scripts.get(script));
            script
                .and_then(Json::text)
                .is_some_and(|line| !line.is_empty())
        };
        let scripts = ["lint", "test"];
        let scripts = scripts.iter().filter(has);
        scripts
            .map(|script| check("package.json", &format!("{runner} {script}")))
            .collect()
    }

    fn python(&self) -> Vec<Check> {
        let files = ["pyproject.toml", "requirements.txt", "requirements-dev.txt"];
        if !files.iter().any(|file| self.file(file)) {
            return Vec::new();
        }
        let tools = [("ruff", "ruff check ."), ("pytest", "pytest -q")];
        let command = |(tool, command): (&str, &str)| {
            if self.program(tool) {
                return Some(command.to_owned());
            }
            self.program("python3")
                .then(|| format!("python3 -m {command}"))
        };
        let commands = tools.into_iter().filter_map(command);
        commands.map(|command| check("python", &command)).collect()
    }

    fn make(&self) -> Vec<Check> {
        let names = ["Makefile", "makefile", "GNUmakefile"];
        let Some(name) = names
            .iter()
            .find(|name| self.file(name))
            .filter(|_| self.program("make"))
        else {
            return Vec::new();
        };
        let text = self.text(name).unwrap_or_default();
        let targets: Vec<Vec<u8>> = TARGET
            .captures_iter(&text)
            .map(|found| found[1].to_vec())
            .collect();
        let wanted = ["lint", "test"].into_iter();
        let there = wanted.filter(|target| targets.iter().any(|found| found == target.as_bytes()));
        there
            .map(|target| check("make", &format!("make {target}")))
            .collect()
    }
}

fn check(source: &'static str, command: &str) -> Check {
    Check {
        source,
        command: command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn commands(root: &Path, programs: &[&str]) -> Vec<String> {
        let bin = tempfile::tempdir().unwrap();
        for name in programs {
            let path = bin.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let found = detected(root, Some(bin.path().as_os_str()));
        found
            .iter()
            .map(|check| format!("{}: {}", check.source, check.command))
            .collect()
    }

    #[test]
    fn by_files_and_by_programs() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert!(commands(root, &["npm", "make", "cargo"]).is_empty());
        fs::write(
            root.join("package.json"),
            r#"{"scripts": {"lint": "x", "test": ""}}"#,
        )
        .unwrap();
        fs::write(
            root.join("Makefile"),
            "all: x\n  lint: y\ntesting:\n\ntest: z\n",
        )
        .unwrap();
        fs::write(root.join("requirements.txt"), "").unwrap();
        fs::write(root.join("Cargo.toml"), "").unwrap();
        let all = commands(root, &["npm", "make", "cargo", "ruff", "python3"]);
        let right = [
            "package.json: npm run lint",
            "python: ruff check .",
            "python: python3 -m pytest -q",
            "rust: cargo test",
            "make: make lint",
            "make: make test",
        ];
        assert_eq!(all, right);
        fs::write(root.join("yarn.lock"), "").unwrap();
        assert_eq!(
            commands(root, &["npm", "yarn"]),
            ["package.json: yarn lint"]
        );
        assert!(commands(root, &[]).is_empty());
    }
}
