//! The environment of a session, built from nothing.
//!
//! A few harmless names pass from the operator's own, and those that the role asks for; the
//! account brings its sign-in; the role's identity comes last. Nothing else is there to leak, and
//! every variable knows where it came from, so that `carson fire ROLE --dry-run` can say so.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use carson_config::{Account, Family, HookFailure, Role, family, passes};
use carson_core::work::WorkKey;
use carson_core::{FiringId, RepoName};

use crate::bench::{Bench, MARKER};
use crate::hook_command::guarded_hook;
use crate::toolchains::Found;
use carson_home::Home;
use carson_home::lent_dirs;

/// Names that pass from the operator's environment to every session.
const PASSED: [&str; 9] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "RUSTUP_HOME",
];

/// Where installers put programs below a home: `pip install --user`, `pipx` and `uv tool`; `cargo install`; `go install`.
const PROGRAMS: [&str; 3] = [".local/bin", ".cargo/bin", "go/bin"];

/// Where a variable of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The operator's environment; every session sees it.
    Operator,
    /// The operator's environment, because the role's `pass` names it.
    Pass,
    /// The bench: its places, and what makes programs behave there.
    Bench,
    /// Carson, for the hook and for scripts.
    Carson,
    /// The account's `env`.
    Account,
    /// A copy, in the bench, of what the account's or the role's directory of that name signs in
    /// with.
    SignIn,
    /// The role's `[identity] env`.
    Identity,
    /// The firing's proxy.
    Egress,
    /// A toolchain that the repository's files name.
    Toolchain,
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Operator => "your environment",
            Self::Pass => "your environment, by the role's pass",
            Self::Bench => "the bench",
            Self::Carson => "Carson",
            Self::Account => "the account's env",
            Self::SignIn => "a private copy of the sign-in, made for each session",
            Self::Identity => "the role's identity",
            Self::Egress => "the firing's proxy, made for each firing",
            Self::Toolchain => "a toolchain of the repository",
        })
    }
}

/// One variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// Its value.
    pub value: OsString,
    /// Where it comes from.
    pub from: From,
}

impl Variable {
    /// The value as people may see it: what was given by hand, and what a name says is secret,
    /// stays hidden. What is left still passes the home's redactor.
    #[must_use]
    pub fn shown(&self) -> String {
        let name = self.name.to_string_lossy();
        let place = |value: &str| value.starts_with('/') && !value.contains(char::is_whitespace);
        let value = self.value.to_string_lossy();
        let secret = family(&name) == Some(Family::Secret);
        match self.from {
            // Where a sign-in lies is worth seeing, and is none.
            From::Account | From::Identity if !place(&value) => "[given]".to_owned(),
            From::Pass if secret => "[passed]".to_owned(),
            _ => value.replace('\n', ","),
        }
    }
}

/// What an environment is built for.
pub struct Wanted<'a> {
    /// The home.
    pub home: &'a Home,
    /// The firing.
    pub id: FiringId,
    /// Its role.
    pub role: &'a Role,
    /// The account whose sign-in the session uses.
    pub account: &'a Account,
    /// The repository.
    pub repo: &'a RepoName,
    /// Its protected patterns.
    pub protected: &'a [String],
    /// Number of the issue.
    pub work: WorkKey,
    /// The firing's branch.
    pub branch: &'a str,
    /// Which execute attempt this is, from 1; 0 outside execute.
    pub attempt: u32,
    /// What the firing's proxy says of itself; it wins over everything.
    pub egress: Vec<(&'static str, String)>,
    /// What the repository's toolchains say; everything but the operator's wins over it.
    pub toolchains: &'a Found,
}

impl Bench {
    /// The complete environment of a session.
    #[must_use]
    pub fn environment(&self, wanted: &Wanted<'_>) -> Vec<(OsString, OsString)> {
        self.variables(wanted)
            .into_iter()
            .map(|variable| (variable.name, variable.value))
            .collect()
    }

    /// The same, each variable with where it comes from.
    #[must_use]
    pub fn variables(&self, wanted: &Wanted<'_>) -> Vec<Variable> {
        let mut env = Environment::default();
        env.operators(wanted);
        env.toolchains(&wanted.toolchains.at(&self.seen_tree(), &self.seen_home()));
        env.benches(self, wanted.home);
        env.carsons(self, wanted);
        for (name, value) in &wanted.account.env {
            env.set(From::Account, name, value);
        }
        for (name, value) in &wanted.role.identity {
            env.set(From::Identity, name, value);
        }
        for (lent, _) in lent_dirs::operators(wanted.account, wanted.role) {
            let place = self.sign_in().join(lent.variable);
            env.set(From::SignIn, lent.variable, place);
        }
        for (name, value) in &wanted.egress {
            env.set(From::Egress, name, value);
        }
        env.0
    }
}

/// The same environment, in which nothing is found by its name that was installed in this home: what a repository's setup
/// installs answers no question of the operator's.
#[must_use]
pub fn without_programs_of(
    home: &Path,
    environment: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let own = |(name, value): (OsString, OsString)| {
        if name != "PATH" {
            return (name, value);
        }
        let is_own = |place: &PathBuf| PROGRAMS.iter().any(|own| *place == home.join(own));
        let others = std::env::split_paths(&value).filter(|place| !is_own(place));
        let others = std::env::join_paths(others).unwrap_or_default();
        (name, others)
    };
    environment.into_iter().map(own).collect()
}

#[derive(Default)]
struct Environment(Vec<Variable>);

impl Environment {
    fn set(&mut self, from: From, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        let name = name.as_ref();
        self.0.retain(|known| known.name != name);
        self.0.push(Variable {
            name: name.to_owned(),
            value: value.as_ref().to_owned(),
            from,
        });
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.name == name)
    }

    fn operators(&mut self, wanted: &Wanted<'_>) {
        let patterns = &wanted.role.confinement.pass;
        for (name, value) in &wanted.home.environ {
            let Some(known) = name.to_str() else {
                continue;
            };
            if known == "PATH" {
                self.set(From::Operator, name, absolute_entries(value));
            } else if PASSED.contains(&known) {
                self.set(From::Operator, name, value);
            } else if passes(patterns, known) {
                self.set(From::Pass, name, value);
            }
        }
    }

    fn toolchains(&mut self, found: &Found) {
        for (name, value) in &found.variables {
            self.set(From::Toolchain, name, value);
        }
        let path = self.0.iter().find(|known| known.name == "PATH");
        let path = path.map(|known| known.value.clone()).unwrap_or_default();
        if !found.path.is_empty() {
            self.set(From::Toolchain, "PATH", found.before(&path));
        }
    }

    fn benches(&mut self, bench: &Bench, home: &Home) {
        if let Some(user_home) = &home.user_home
            && !self.has("RUSTUP_HOME")
            && user_home.join(".rustup").is_dir()
        {
            // Toolchains are programs, not state; without this a promise of `cargo test` would
            // find no compiler under the bench's own HOME.
            self.set(From::Bench, "RUSTUP_HOME", user_home.join(".rustup"));
        }
        let bench_home = bench.seen_home();
        for (name, place) in [
            ("XDG_CONFIG_HOME", bench_home.join(".config")),
            ("XDG_CACHE_HOME", bench_home.join(".cache")),
            ("XDG_DATA_HOME", bench_home.join(".local/share")),
            ("XDG_STATE_HOME", bench_home.join(".local/state")),
            ("XDG_RUNTIME_DIR", bench.runtime()),
            ("TMPDIR", bench.temp()),
            ("HOME", bench_home),
        ] {
            self.set(From::Bench, name, place);
        }
        self.programs_of(&bench.seen_home());
        self.set(From::Bench, "TERM", "dumb");
        self.set(From::Bench, "GIT_TERMINAL_PROMPT", "0");
        // It asks its registry whether there is a newer npm, and says so among what a check printed: once, and then not again.
        self.set(From::Bench, "NPM_CONFIG_UPDATE_NOTIFIER", "false");
    }

    /// What a setup or a session installs in its own home is found by its name, behind all that the operator has.
    fn programs_of(&mut self, home: &Path) {
        let path = self.0.iter().find(|known| known.name == "PATH");
        let Some(path) = path.map(|known| (known.from, known.value.clone())) else {
            return;
        };
        let (from, path) = path;
        let all = std::env::split_paths(&path).chain(PROGRAMS.map(|place| home.join(place)));
        // A home with a colon in its name cannot be on a path.
        if let Ok(all) = std::env::join_paths(all) {
            self.set(from, "PATH", all);
        }
    }

    fn carsons(&mut self, bench: &Bench, wanted: &Wanted<'_>) {
        let failure = wanted.role.hook_failure;
        let hook = guarded_hook(&wanted.home.program, wanted.home.path(), failure);
        let protected = wanted.protected.join("\n");
        let mut own = |name: &str, value: &dyn AsRef<OsStr>| self.set(From::Carson, name, value);
        own(MARKER, &wanted.id.to_string());
        own("CARSON_ROLE", &wanted.role.name.as_str());
        own("CARSON_REPO", &wanted.repo.as_str());
        if let Some(number) = wanted.work.number() {
            own("CARSON_WORK", &number.to_string());
        }
        own("CARSON_ATTEMPT", &wanted.attempt.to_string());
        own("CARSON_WORKTREE", &bench.seen_tree());
        own("CARSON_TMP", &bench.temp());
        own("CARSON_BRANCH", &wanted.branch);
        own("CARSON_PROTECTED", &protected);
        own("CARSON_HOOK_EVENTS", &bench.hook_events());
        own("CARSON_HOOK_COMMAND", &hook);
        if wanted
            .role
            .servers
            .iter()
            .any(|server| !server.secrets.is_empty())
        {
            own("CARSON_SECRET_PATHS", &bench.granted().join("secrets/**"));
        }
        if wanted.attempt > 0 && !wanted.role.grant.is_empty() {
            own("CARSON_OUTBOX", &bench.outbox());
        }
        if failure == HookFailure::Closed {
            own("CARSON_HOOK_FAILURE", &"closed");
        }
    }
}

/// `PATH` without what depends on the working directory: in a worktree that would be programs of
/// the repository's.
fn absolute_entries(path: &OsStr) -> OsString {
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    // Entries that were split at colons hold none.
    std::env::join_paths(entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_working_directory_is_on_the_path() {
        let path = absolute_entries(OsStr::new("/usr/bin:.::bin:/opt/x/bin:"));
        assert_eq!(path, "/usr/bin:/opt/x/bin");
    }

    #[test]
    fn what_was_given_by_hand_is_not_shown() {
        let shown = |name: &str, value: &str, from| {
            let variable = Variable {
                name: name.into(),
                value: value.into(),
                from,
            };
            variable.shown()
        };
        assert_eq!(shown("GH_TOKEN", "ghp_x", From::Pass), "[passed]");
        assert_eq!(shown("CARGO_JOBS", "2", From::Pass), "2");
        assert_eq!(shown("X", "s3cret", From::Identity), "[given]");
        assert_eq!(shown("CLAUDE_CONFIG_DIR", "/a/b", From::Account), "/a/b");
        assert_eq!(shown("CARSON_PROTECTED", "a\nb", From::Carson), "a,b");
    }
}
