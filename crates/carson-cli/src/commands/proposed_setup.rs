//! What would make a checkout of a repository ready to work in: as it tells other agents, as its CI does
//! it, or by its lock files.

pub mod ci;
mod commands;
mod here;
mod script;
#[cfg(test)]
mod tests;
mod told;

use std::path::{Component, Path};

use carson_config::Toolchain;
use carson_core::untrusted::one_line;

use super::repository_files::RepositoryFiles;
use here::fitted;
use script::lines;

/// What is proposed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Lines for `sh`, each of which is a step.
    pub setup: Vec<String>,
    /// The file that says so.
    pub by: String,
    /// What such files say besides that cannot work here; each behind the reason and its file.
    pub left_out: Vec<String>,
    /// Such files with what they have keys for and nobody takes over.
    pub not_taken: Vec<String>,
    /// Files that would say so and cannot be read, each with what is wrong in it.
    pub unread: Vec<String>,
    /// Programs that the repository has files for, which say what its work needs.
    pub toolchains: Vec<Toolchain>,
    /// Files that git ignores and workspaces need.
    pub include: Vec<String>,
    /// What the list of those names besides that is no file here.
    pub no_files: Vec<String>,
}

/// A lock file, and what installs what it locks.
const LOCKS: [(&str, &[&str]); 17] = [
    ("package-lock.json", &["npm ci"]),
    ("pnpm-lock.yaml", &["pnpm install --frozen-lockfile"]),
    ("yarn.lock", &["yarn install --frozen-lockfile"]),
    ("bun.lock", &["bun install --frozen-lockfile"]),
    ("uv.lock", &["uv sync --frozen"]),
    ("poetry.lock", &["poetry install --no-interaction"]),
    ("requirements.txt", &["pip install -r requirements.txt"]),
    (REQUIREMENTS[0], &["pip install -r requirements-dev.txt"]),
    (REQUIREMENTS[1], &["pip install -r requirements_dev.txt"]),
    (REQUIREMENTS[2], &["pip install -r dev-requirements.txt"]),
    (REQUIREMENTS[3], &["pip install -r requirements-test.txt"]),
    (REQUIREMENTS[4], &["pip install -r test-requirements.txt"]),
    ("Cargo.lock", &["cargo test --locked --no-run"]),
    ("go.sum", &["go mod download", "go vet ./..."]),
    ("Gemfile.lock", &["bundle install"]),
    ("composer.lock", &["composer install --no-interaction"]),
    ("mix.lock", &["mix deps.get"]),
];

/// What Python's tests need beside `requirements.txt`, by the names that most have.
pub const REQUIREMENTS: [&str; 5] = [
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
];

/// The list of files that tools which make worktrees copy into them.
const INCLUDE: &str = ".worktreeinclude";

/// The files that are looked at; what ends in `/` stands for all below it.
pub fn files() -> impl Iterator<Item = &'static str> {
    let locks = LOCKS.iter().map(|(lock, _)| *lock);
    // That of asdf is one of mise's.
    let toolchains = [Toolchain::Mise, Toolchain::Direnv];
    let toolchains = toolchains.into_iter().flat_map(Toolchain::files).copied();
    let told = told::files().chain(ci::WORKFLOWS);
    told.chain(locks).chain(toolchains)
}

/// Looks at a repository.
pub fn proposed(files: &RepositoryFiles) -> Proposal {
    let (include, no_files) = included(files);
    let mut proposal = Proposal {
        toolchains: toolchains(files),
        include,
        no_files,
        ..Proposal::default()
    };
    proposal.told(files);
    for place in ci::WORKFLOWS {
        let installs = || ci::installs(&files.text(place)?);
        if proposal.setup.is_empty()
            && let Some(steps) = installs()
        {
            proposal.take(place, steps, &[]);
        }
    }
    if proposal.setup.is_empty() {
        let (steps, by) = locked(files);
        proposal.take(&by, steps, &[]);
    }
    proposal
}

/// Those that have a file here. asdf's is read by mise, too, and is its where it has one of its own besides.
fn toolchains(files: &RepositoryFiles) -> Vec<Toolchain> {
    let has = |one: Toolchain, but: &[&str]| {
        let mut own = one.files().iter().filter(|file| !but.contains(file));
        own.any(|file| files.has(file))
    };
    let mise = has(Toolchain::Mise, Toolchain::Asdf.files());
    let all = [
        (Toolchain::Mise, mise),
        (Toolchain::Asdf, !mise && has(Toolchain::Asdf, &[])),
        (Toolchain::Direnv, has(Toolchain::Direnv, &[])),
    ];
    let there = all.into_iter().filter(|(_, is_there)| *is_there);
    there.map(|(one, _)| one).collect()
}

/// Letters of a step where people are told all of them.
const SHOWN: usize = 200;

impl Proposal {
    /// Its steps for people, on one line.
    pub fn shown(&self) -> String {
        let steps = self.setup.iter().map(|step| one_line(step, SHOWN));
        steps.collect::<Vec<String>>().join("; ")
    }

    /// What the repository tells other agents: the first file that has steps which work here counts. What it says
    /// besides, and what the others say, is named.
    fn told(&mut self, files: &RepositoryFiles) {
        for (place, said) in told::told(files) {
            let said = match said {
                Ok(said) => said,
                Err(why) => {
                    self.unread.push(format!("{place}: {why}"));
                    continue;
                }
            };
            let mut rest = said.besides;
            match self.setup.is_empty() {
                true => self.take(&place, said.steps, &said.worktree),
                false => rest.splice(0..0, said.taken).for_each(drop),
            }
            if !rest.is_empty() {
                self.not_taken.push(format!("{place}: {}", rest.join(", ")));
            }
        }
    }

    /// Takes those steps of a file that work here, and keeps why others do not.
    fn take(&mut self, place: &str, steps: Vec<String>, worktree: &[String]) {
        let fitted = fitted(steps, worktree);
        let left = fitted.left.iter();
        let left = left.map(|(why, line)| format!("{why}: {place}: {line}"));
        self.left_out.extend(left);
        if !fitted.steps.is_empty() {
            (self.setup, self.by) = (fitted.steps, place.to_owned());
        }
    }
}

fn locked(files: &RepositoryFiles) -> (Vec<String>, String) {
    let there = LOCKS.iter().filter(|(lock, _)| files.has(lock));
    let (mut setup, mut by) = (Vec::new(), Vec::new());
    for (lock, lines) in there {
        setup.extend(lines.iter().map(|line| (*line).to_owned()));
        by.push(*lock);
    }
    (setup, by.join(", "))
}

/// The files of the list, and what else it names: it may have patterns, and directories.
fn included(files: &RepositoryFiles) -> (Vec<String>, Vec<String>) {
    let Some(dir) = files.checkout() else {
        return Default::default();
    };
    let text = files.text(INCLUDE).unwrap_or_default();
    let named = lines(&text).into_iter();
    named.partition(|file| is_inside(file) && dir.join(file).is_file())
}

/// Whether it is a path that the settings take.
fn is_inside(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"))
        && !file.contains(['*', '?'])
}
