//! Lines that were written for another machine, as they work in a workspace; or why they cannot.
//!
//! What is installed for a whole machine goes into the home, whose programs are found, or into an environment of
//! Python's in the worktree: behind the walls all else can only be read.

use std::fmt;

use super::commands::{commands, each_command};
use super::script::goes;

/// Why a line is not proposed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It asks for more rights than a session has.
    Root,
    /// It has what another tool fills in.
    Unknown(String),
    /// It runs where one goes that is not proposed.
    Follows,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("as no session has root"),
            Self::Unknown(name) => write!(f, "as only another tool knows {name}"),
            Self::Follows => f.write_str("as it follows a line that is left out"),
        }
    }
}

/// Steps that work here, and those that do not.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    pub(super) steps: Vec<String>,
    pub(super) left: Vec<(Why, String)>,
}

/// Makes an environment of Python's, and has all that follows use it.
const VENV: [&str; 2] = ["python3 -m venv .venv", ". .venv/bin/activate"];
/// Makes the place for programs.
const BIN: &str = "mkdir -p ~/.local/bin";
/// What says that a script has an environment of its own.
const ENVIRONMENTS: [&str; 3] = ["venv", "virtualenv", "conda"];

/// The steps of somebody whose worktree has these names.
pub(super) fn fitted(steps: Vec<String>, worktree: &[String]) -> Fitted {
    let (mut fitted, mut is_lost) = (Fitted::default(), false);
    let (mut of_pip, mut of_bin) = (false, false);
    let has_environment = |step: &String| ENVIRONMENTS.iter().any(|one| step.contains(one));
    let has_environment = steps.iter().any(has_environment);
    for step in steps {
        let here = in_worktree(&step, worktree);
        let why = why_not(&here).or(is_lost.then_some(Why::Follows));
        if let Some(why) = why {
            is_lost |= goes(&step) && !step.starts_with('(');
            fitted.left.push((why, step));
            continue;
        }
        fitted.steps.push(each_command(&here, |command| {
            let at_home = at_home(command);
            of_bin |= at_home.as_ref().is_some_and(|line| line.contains(BIN_DIR));
            let of_env = (!has_environment)
                .then(|| in_environment(command))
                .flatten();
            of_pip |= of_env.is_some();
            at_home.or(of_env)
        }));
    }
    let first = of_pip.then_some(VENV).into_iter().flatten();
    let first = of_bin.then_some(BIN).into_iter().chain(first);
    let first: Vec<String> = first.map(str::to_owned).collect();
    fitted.steps.splice(0..0, first);
    fitted
}

/// Programs that change the machine; nobody has more rights in a sandbox.
const ROOT: [&str; 9] = [
    "apt", "apt-get", "dpkg", "apk", "dnf", "yum", "pacman", "zypper", "su",
];

fn why_not(step: &str) -> Option<Why> {
    let mut words = step.split(|letter: char| !letter.is_alphanumeric() && !"-_".contains(letter));
    let is_root = |command: &str| {
        command
            .split_whitespace()
            .next()
            .is_some_and(|word| ROOT.contains(&word))
    };
    if words.any(|word| ["sudo", "doas"].contains(&word)) || commands(step).any(is_root) {
        return Some(Why::Root);
    }
    foreign(step).map(|name| Why::Unknown(name.to_owned()))
}

/// How names begin that other tools fill in.
const FOREIGN: [&str; 15] = [
    "${localEnv:",
    "${containerEnv:",
    "${localWorkspaceFolder",
    "${containerWorkspaceFolder",
    "${devcontainerId",
    "$CODEX_",
    "${CODEX_",
    "$CURSOR_",
    "${CURSOR_",
    "$CONDUCTOR_",
    "${CONDUCTOR_",
    "$CODESPACE",
    "${CODESPACE",
    "$ROOT_WORKTREE_PATH",
    "${ROOT_WORKTREE_PATH",
];
/// Where other tools put a repository.
const PLACES: [&str; 2] = ["/workspaces/", "/workspace/"];

/// What only another tool knows.
fn foreign(step: &str) -> Option<&str> {
    let names = FOREIGN.iter().filter_map(|name| step.find(name));
    let places = PLACES.iter().filter_map(|place| {
        let mut all = step.match_indices(place).map(|(at, _)| at);
        all.find(|at| begins_a_path(&step[..*at]))
    });
    let rest = &step[names.chain(places).min()?..];
    let ends = |letter: char| letter.is_whitespace() || "\"';&|)".contains(letter);
    let end = rest.find('}').map_or(rest.len(), |at| at + 1);
    let end = rest.find(ends).unwrap_or(rest.len()).min(end);
    Some(&rest[..end])
}

/// Whether a `/` behind this is the first of a path.
fn begins_a_path(before: &str) -> bool {
    let last = before.chars().next_back();
    last.is_none_or(|last| last.is_whitespace() || "\"'=:(".contains(last))
}

/// The worktree, as every session is told it.
const WORKTREE: &str = "$CARSON_WORKTREE";

/// The step with the name of the worktree here in the place of others.
fn in_worktree(step: &str, names: &[String]) -> String {
    let (mut out, mut quote) = (String::new(), None);
    let mut rest = step;
    while let Some(letter) = rest.chars().next() {
        if let Some(name) = names.iter().find(|name| is_name(&out, rest, name)) {
            out.push_str(&match quote {
                None => format!("\"{WORKTREE}\""),
                // A letter behind it would belong to the name.
                Some('"') => format!("${{{}}}", &WORKTREE[1..]),
                // Nothing is filled in there.
                Some(mark) => format!("{mark}\"{WORKTREE}\"{mark}"),
            });
            rest = &rest[name.len()..];
            continue;
        }
        quote = match quote {
            None if "\"'".contains(letter) => Some(letter),
            Some(mark) if mark == letter => None,
            quote => quote,
        };
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    out
}

/// Whether the name stands here, and no longer one.
fn is_name(before: &str, rest: &str, name: &str) -> bool {
    let Some(behind) = rest.strip_prefix(name) else {
        return false;
    };
    let is_of_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    let is_whole = name.ends_with('}') || !behind.starts_with(is_of_name);
    is_whole && (!name.starts_with('/') || begins_a_path(before))
}

/// Where programs are found that a setup installs.
const BIN_DIR: &str = "~/.local/bin";

/// A command that installs for the whole machine, as one that does it in the home; `None` for another.
fn at_home(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let says = |options: &[&str]| {
        let is_one = |word: &&str| options.contains(&word.split('=').next().unwrap_or_default());
        words.iter().position(is_one)
    };
    let behind = |at: usize, more: &str| {
        let (before, rest) = words.split_at(at + 1);
        let all: Vec<&str> = before
            .iter()
            .copied()
            .chain([more])
            .chain(rest.iter().copied())
            .collect();
        all.join(" ")
    };
    let is_global = says(&["-g", "--global"]);
    match *words.get(..2)? {
        ["npm", "i" | "install" | "add"] if says(&["--prefix"]).is_none() => {
            Some(behind(is_global?, "--prefix ~/.local"))
        }
        ["pnpm", "i" | "install" | "add"] => {
            Some(behind(is_global?, "--global-bin-dir ~/.local/bin"))
        }
        ["yarn", "global"] if words.get(2) == Some(&"add") && says(&["--prefix"]).is_none() => {
            Some(behind(
                2,
                "--prefix ~/.local --global-folder ~/.local/share/yarn",
            ))
        }
        ["corepack", "enable"] if says(&["--install-directory"]).is_none() => {
            Some(behind(1, "--install-directory ~/.local/bin"))
        }
        ["gem", "install"] if says(&["--user-install", "-i", "--install-dir"]).is_none() => {
            Some(behind(1, "--user-install --bindir ~/.local/bin"))
        }
        _ => None,
    }
}

/// How commands begin that install for the whole machine, unless there is an environment.
const PIPS: [&str; 5] = [
    "pip install",
    "pip3 install",
    "python -m pip install",
    "python3 -m pip install",
    "uv pip install",
];

/// A command that needs an environment, without what asks for another place.
fn in_environment(command: &str) -> Option<String> {
    let rest = PIPS.iter().find_map(|start| command.strip_prefix(start))?;
    if !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let elsewhere = ["--user", "--system", "--break-system-packages"];
    let words = command
        .split_whitespace()
        .filter(|word| !elsewhere.contains(word));
    Some(words.collect::<Vec<&str>>().join(" "))
}
