//! What the hook knows about the firing it guards.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Branch patterns that are protected when Carson names none (DESIGN §14).
pub const DEFAULT_PROTECTED: [&str; 3] = ["main", "master", "release/*"];

/// Who may push the firing's branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pusher {
    /// Carson pushes after the session (DESIGN §8). The hook still judges a push by its rule only:
    /// other layers refuse the rest. It changes the advice in the reason.
    #[default]
    Carson,
    /// The role lets the agent push its own branch.
    Agent,
}

/// What becomes of a call when the hook itself fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failure {
    /// It runs, and the event file says so.
    #[default]
    Open,
    /// It is refused.
    Closed,
}

/// Whether deciding may look at the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    /// Decide from the call alone: the same call always gets the same answer.
    #[default]
    CallOnly,
    /// Also follow symbolic links and read the repository's `HEAD` and `config`.
    Disk,
}

/// The firing's facts, as Carson hands them to the hook process.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// `CARSON_WORKTREE`: absolute path. When empty, the call's own directory is used.
    pub worktree: String,
    /// `CARSON_TMP`: the firing's private temp, absolute; empty when there is none.
    pub tmp: String,
    /// `CARSON_BRANCH`: the firing's branch.
    pub branch: String,
    /// `CARSON_PROTECTED`: patterns; `*` also matches `/`.
    pub protected: Vec<String>,
    /// `CARSON_SECRET_PATHS`: globs of further credential files.
    pub secret_paths: Vec<String>,
    /// `CARSON_HOOK_EVENTS`: file that gets one JSON line per block or failure.
    pub events: Option<PathBuf>,
    /// `CARSON_HOOK_FAILURE`: what becomes of a call that the hook itself cannot judge.
    pub failure: Failure,
    /// `CARSON_PUSH`: `carson` or `agent`.
    pub pusher: Pusher,
    /// `HOME`; empty when unknown.
    pub home: String,
    /// Further variables that a command may use, normally the hook's own environment.
    pub vars: BTreeMap<String, String>,
    /// Whether deciding may look at the disk.
    pub sight: Sight,
}

impl Context {
    /// A context without a firing: default patterns, no disk.
    pub fn new(worktree: &str) -> Self {
        let protected = DEFAULT_PROTECTED.map(str::to_owned).to_vec();
        Self {
            worktree: trimmed(worktree),
            protected,
            ..Self::default()
        }
    }

    /// The context from the process's environment, with a look at the disk.
    pub fn from_env() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let mut vars = BTreeMap::new();
        for (name, value) in std::env::vars_os().filter_map(text) {
            vars.insert(name, value);
        }
        Self::from_vars(vars)
    }

    /// The context from a map of variables, with a look at the disk.
    pub fn from_vars(vars: BTreeMap<String, String>) -> Self {
        let get = |name: &str| vars.get(name).cloned().unwrap_or_default();
        let protected = lines(&get("CARSON_PROTECTED"));
        let agent = get("CARSON_PUSH") == "agent";
        Self {
            worktree: trimmed(&get("CARSON_WORKTREE")),
            tmp: trimmed(&get("CARSON_TMP")),
            branch: get("CARSON_BRANCH"),
            protected: if protected.is_empty() {
                Self::new("").protected
            } else {
                protected
            },
            secret_paths: lines(&get("CARSON_SECRET_PATHS")),
            events: Some(get("CARSON_HOOK_EVENTS"))
                .filter(|p| !p.is_empty())
                .map(PathBuf::from),
            pusher: if agent { Pusher::Agent } else { Pusher::Carson },
            failure: if get("CARSON_HOOK_FAILURE") == "closed" {
                Failure::Closed
            } else {
                Failure::Open
            },
            home: trimmed(&get("HOME")),
            sight: Sight::Disk,
            vars,
        }
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn trimmed(path: &str) -> String {
    let cut = path.trim_end_matches('/');
    if cut.is_empty() && path.starts_with('/') {
        "/".to_owned()
    } else {
        cut.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_contract() {
        let vars = [
            ("CARSON_WORKTREE", "/wt/"),
            ("CARSON_TMP", "/private/tmp1"),
            ("CARSON_BRANCH", "carson/7"),
            ("CARSON_PROTECTED", "trunk\n\n stable/* \n"),
            ("CARSON_SECRET_PATHS", "/srv/keys/**"),
            ("CARSON_HOOK_EVENTS", "/ev"),
            ("CARSON_PUSH", "agent"),
            ("CARSON_HOOK_FAILURE", "closed"),
        ];
        let own = |(k, v): (&str, &str)| (k.to_owned(), v.to_owned());
        let ctx = Context::from_vars(vars.into_iter().map(own).collect());
        assert_eq!(ctx.worktree, "/wt");
        assert_eq!(ctx.protected, ["trunk", "stable/*"]);
        assert_eq!(ctx.secret_paths, ["/srv/keys/**"]);
        assert_eq!(ctx.failure, Failure::Closed);
        assert_eq!(ctx.pusher, Pusher::Agent);
        assert_eq!(ctx.events, Some(PathBuf::from("/ev")));
    }

    #[test]
    fn an_empty_environment_protects_the_default_branches() {
        let ctx = Context::from_vars(BTreeMap::new());
        assert_eq!(ctx.protected, DEFAULT_PROTECTED);
        assert_eq!(ctx.failure, Failure::Open);
        assert_eq!(ctx.pusher, Pusher::Carson);
        assert_eq!(ctx.events, None);
    }
}
