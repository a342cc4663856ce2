//! The command that tests a repository, by the files that its tools are set up with: the promise of
//! a new role.

use serde_json::Value;

use super::repository_files::RepositoryFiles;

/// A command that tests a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedCheck {
    /// A line for `sh`.
    pub run: String,
    /// The file that says so.
    pub by: &'static str,
}

/// What npm writes into a new package, which tests nothing and fails.
const PLACEHOLDER: &str = "no test specified";

/// A file, and the command that its text speaks for, if it does.
type Speaks = (&'static str, fn(&str, &RepositoryFiles) -> Option<String>);

const FILES: [Speaks; 6] = [
    ("package.json", npm),
    ("Cargo.toml", |_, _| Some("cargo test".into())),
    ("go.mod", |_, _| Some("go test ./...".into())),
    ("pyproject.toml", |text, files| {
        pytest(text.contains("pytest"), files)
    }),
    ("pytest.ini", |_, files| pytest(true, files)),
    ("Makefile", |text, _| make(text)),
];

/// The files that are looked at.
pub fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The first command that a file speaks for.
pub fn proposed_check(files: &RepositoryFiles) -> Option<ProposedCheck> {
    FILES.iter().find_map(|(by, command)| {
        let run = command(&files.text(by)?, files)?;
        Some(ProposedCheck { run, by })
    })
}

fn npm(text: &str, files: &RepositoryFiles) -> Option<String> {
    let package: Value = serde_json::from_str(text).ok()?;
    let script = package["scripts"]["test"].as_str()?;
    if script.trim().is_empty() || script.contains(PLACEHOLDER) {
        return None;
    }
    // Each manager is known by its lock file.
    let managers = [
        ("pnpm-lock.yaml", "pnpm test"),
        ("yarn.lock", "yarn test"),
        ("bun.lock", "bun run test"),
    ];
    let found = managers.iter().find(|(lock, _)| files.has(lock));
    Some(found.map_or("npm test", |(_, run)| run).to_owned())
}

/// What installs the packages puts their programs where no `PATH` leads; without that the machine's own is
/// found.
fn pytest(is_used: bool, files: &RepositoryFiles) -> Option<String> {
    let in_venv = ["requirements.txt", "uv.lock"];
    let run = match () {
        () if files.has("poetry.lock") => "poetry run pytest -q",
        () if in_venv.iter().any(|file| files.has(file)) => {
            "PATH=\"$PWD/.venv/bin:$PATH\" pytest -q"
        }
        () => "pytest -q",
    };
    is_used.then(|| run.to_owned())
}

/// A target of this name, and no variable.
fn make(text: &str) -> Option<String> {
    let is_target = |line: &str| {
        let rest = line.strip_prefix("test").map(str::trim_start);
        rest.and_then(|rest| rest.strip_prefix(':'))
            .is_some_and(|rest| !rest.starts_with('='))
    };
    text.lines().any(is_target).then(|| "make test".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<String> {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let files = RepositoryFiles::Peeked(files.iter().map(own).collect());
        proposed_check(&files).map(|check| check.run)
    }

    #[test]
    fn the_command_that_tests_a_repository_is_found_by_its_files() {
        let package = |script: &str| format!("{{\"scripts\": {{\"test\": {script:?}}}}}");
        let (jest, new) = (
            package("jest"),
            package("echo \"Error: no test specified\" && exit 1"),
        );
        for (files, found) in [
            (&[("package.json", jest.as_str())][..], Some("npm test")),
            (
                &[("package.json", &jest), ("yarn.lock", "")],
                Some("yarn test"),
            ),
            (
                &[("package.json", &new), ("Makefile", "all:\ntest : all\n")],
                Some("make test"),
            ),
            (&[("package.json", "{")], None),
            (&[("Cargo.toml", "[package]")], Some("cargo test")),
            (&[("go.mod", "module x")], Some("go test ./...")),
            (
                &[("pyproject.toml", "[tool.pytest.ini_options]")],
                Some("pytest -q"),
            ),
            (&[("pyproject.toml", "[project]")], None),
            (&[("pytest.ini", "")], Some("pytest -q")),
            (
                &[("pytest.ini", ""), ("requirements.txt", "pytest\n")],
                Some("PATH=\"$PWD/.venv/bin:$PATH\" pytest -q"),
            ),
            (
                &[("pytest.ini", ""), ("poetry.lock", "")],
                Some("poetry run pytest -q"),
            ),
            (&[("Makefile", "test := 1\ntests:\n\ttest:\n")], None),
            (&[], None),
        ] {
            assert_eq!(of(files).as_deref(), found, "{files:?}");
        }
    }
}
