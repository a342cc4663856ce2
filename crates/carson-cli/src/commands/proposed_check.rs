//! The command that tests a repository, by the files that its tools are set up with: the promise of
//! a new role.

use serde_json::Value;

use super::proposed_setup::{REQUIREMENTS, ci};
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

const FILES: [Speaks; 11] = [
    ("package.json", npm),
    ("Cargo.toml", |_, _| Some("cargo test".into())),
    ("go.mod", |_, _| Some("go test ./...".into())),
    ("pyproject.toml", |text, _| pytest(text.contains("pytest"))),
    ("pytest.ini", |_, _| pytest(true)),
    (REQUIREMENTS[0], |text, _| pytest(text.contains("pytest"))),
    (REQUIREMENTS[1], |text, _| pytest(text.contains("pytest"))),
    (REQUIREMENTS[2], |text, _| pytest(text.contains("pytest"))),
    (REQUIREMENTS[3], |text, _| pytest(text.contains("pytest"))),
    (REQUIREMENTS[4], |text, _| pytest(text.contains("pytest"))),
    ("Makefile", |text, _| make(text)),
];

/// How lines of CI begin that test a repository.
const TESTS: [&str; 24] = [
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "poetry run pytest",
    "uv run pytest",
    "tox",
    "nox",
    "npm test",
    "npm run test",
    "pnpm test",
    "yarn test",
    "bun test",
    "deno test",
    "cargo test",
    "go test",
    "make test",
    "make check",
    "bundle exec rspec",
    "bundle exec rake",
    "mix test",
    "dotnet test",
    "composer test",
];

/// The files that are looked at.
pub fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name).chain(ci::WORKFLOWS)
}

/// The first command that a file speaks for, else that CI runs; where a setup with these lines ran.
pub fn proposed_check(files: &RepositoryFiles, setup: &[String]) -> Option<ProposedCheck> {
    let by_files = FILES.iter().find_map(|(by, command)| {
        let run = command(&files.text(by)?, files)?;
        Some(ProposedCheck { run, by })
    });
    let by_ci = || {
        ci::WORKFLOWS.into_iter().find_map(|by| {
            let run = of_workflow(&files.text(by)?)?;
            Some(ProposedCheck { run, by })
        })
    };
    let found = by_files.or_else(by_ci)?;
    let run = where_installed(found.run, setup);
    Some(ProposedCheck { run, ..found })
}

/// The first plain line that tests something.
fn of_workflow(text: &str) -> Option<String> {
    let is_test = |line: &&str| TESTS.iter().any(|start| ci::after(line, start).is_some());
    ci::commands(text)?.find(is_test).map(str::to_owned)
}

/// What installs Python's packages puts their programs where no `PATH` leads; without that the machine's own is
/// found.
fn where_installed(run: String, setup: &[String]) -> String {
    let says = |word: &str| setup.iter().any(|line| line.contains(word));
    let is_of_python = ["pytest", "python", "tox", "nox"];
    if !is_of_python.iter().any(|start| run.starts_with(start)) {
        return run;
    }
    match () {
        () if says("poetry install") => format!("poetry run {run}"),
        () if says(".venv") || says("uv sync") => format!("PATH=\"$PWD/.venv/bin:$PATH\" {run}"),
        () => run,
    }
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

fn pytest(is_used: bool) -> Option<String> {
    is_used.then(|| "pytest -q".to_owned())
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
    use super::super::proposed_setup::proposed;
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<String> {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let files = RepositoryFiles::Peeked(files.iter().map(own).collect());
        let setup = proposed(&files).setup;
        proposed_check(&files, &setup).map(|check| check.run)
    }

    #[test]
    fn the_command_that_tests_a_repository_is_found_by_its_files() {
        let package = |script: &str| format!("{{\"scripts\": {{\"test\": {script:?}}}}}");
        let (jest, new) = (
            package("jest"),
            package("echo \"Error: no test specified\" && exit 1"),
        );
        let ci = ".github/workflows/ci.yml";
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
            (
                &[
                    ("requirements.txt", ""),
                    ("requirements-dev.txt", "pytest\n"),
                ],
                Some("PATH=\"$PWD/.venv/bin:$PATH\" pytest -q"),
            ),
            (
                &[(
                    ci,
                    "- run: pip install tox\n- run: tox -e py312 ${{ x }}\n- run: tox\n",
                )],
                Some("PATH=\"$PWD/.venv/bin:$PATH\" tox"),
            ),
            (
                &[(ci, "- run: |\n    pytest -q tests\n")],
                Some("pytest -q tests"),
            ),
            (&[(ci, "- run: pytest\n  working-directory: api\n")], None),
            (&[(ci, "- run: pytesting\n")], None),
            (&[], None),
        ] {
            assert_eq!(of(files).as_deref(), found, "{files:?}");
        }
    }
}
