//! Toolchains that a repository names by files of its own: mise, asdf, direnv.
//!
//! Their programs are asked by Carson, in the walls of a session, in a worktree that has the base commit and that
//! no session has been in: what the files say may run code. What they print is data: places for the
//! `PATH` and variables, of which only those are taken that a role's `pass` could hand over by a pattern.
//! Nothing that decides what programs load, that carries a secret, or that is Carson's own comes
//! in this way.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use carson_config::{Toolchain, family};
use thiserror::Error;

/// Bytes of an answer.
pub const ANSWER: usize = 1 << 20;
/// Variables of one answer, and places for the `PATH`.
const MOST: usize = 200;
/// Bytes of one value.
const LONGEST: usize = 32 * 1024;

/// What the programs said, of the place where they were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Places for the `PATH`, before the operator's.
    pub path: Vec<PathBuf>,
    /// Variables.
    pub variables: BTreeMap<String, String>,
    /// Where the worktree and the home were seen.
    pub places: Option<(PathBuf, PathBuf)>,
}

/// An answer that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnswerError {
    /// It is no list of variables.
    #[error("what {0} prints is no list of variables: {1}")]
    Garbled(Toolchain, String),
    /// There is more of it than any toolchain needs.
    #[error("{0} names more than {MOST} variables or places")]
    TooMuch(Toolchain),
}

/// The line for `sh` that asks a program. It works at the top of the worktree.
#[must_use]
pub fn question(toolchain: Toolchain) -> &'static str {
    match toolchain {
        Toolchain::Mise => {
            "MISE_TRUSTED_CONFIG_PATHS=$PWD MISE_YES=1 MISE_QUIET=1 exec mise env --json"
        }
        // It has no word for all of them, and what it puts on the PATH itself would look again each time, in files
        // that a session may have changed.
        Toolchain::Asdf => {
            "set -e; while read -r name versions; do
               case $name in ''|'#'*) continue;; esac
               for version in $versions; do
                 case $version in '#'*) break;; system) continue;; esac
                 printf '%s/bin\\n' \"$(asdf where \"$name\" \"$version\")\"
               done
             done < .tool-versions"
        }
        Toolchain::Direnv => "direnv allow . >&2 && DIRENV_LOG_FORMAT= exec direnv export json",
    }
}

impl Found {
    /// Takes in what a program printed, which was asked with this `PATH`.
    ///
    /// # Errors
    /// When it is no answer: then nothing is taken of it.
    pub fn take(
        &mut self,
        toolchain: Toolchain,
        answer: &str,
        asked_with: &OsStr,
    ) -> Result<(), AnswerError> {
        let (places, variables) = match toolchain {
            Toolchain::Asdf => (answer.lines().map(PathBuf::from).collect(), BTreeMap::new()),
            Toolchain::Mise | Toolchain::Direnv => of_json(toolchain, answer)?,
        };
        let known: Vec<PathBuf> = std::env::split_paths(asked_with).collect();
        let places: Vec<PathBuf> = places
            .into_iter()
            .filter(|place| !known.contains(place) && is_place(place))
            .collect();
        if places.len() > MOST || variables.len() > MOST {
            return Err(AnswerError::TooMuch(toolchain));
        }
        // Who is asked later comes first, as its answer stands on the one before.
        self.path.retain(|place| !places.contains(place));
        self.path.splice(0..0, places);
        self.variables.extend(variables);
        Ok(())
    }

    /// A `PATH` with its places first.
    #[must_use]
    pub fn before(&self, path: &OsStr) -> OsString {
        let all = self.path.iter().cloned().chain(std::env::split_paths(path));
        // None of these has a colon.
        std::env::join_paths(all).unwrap_or_else(|_| path.to_owned())
    }

    /// The same for another worktree and home of the same repository.
    #[must_use]
    pub fn at(&self, tree: &std::path::Path, home: &std::path::Path) -> Self {
        let Some((old_tree, old_home)) = &self.places else {
            return self.clone();
        };
        if (old_tree.as_path(), old_home.as_path()) == (tree, home) {
            return self.clone();
        }
        let pairs = [(old_tree, tree), (old_home, home)];
        let moved = |text: &str| {
            pairs.iter().fold(text.to_owned(), |text, (old, new)| {
                text.replace(&*old.to_string_lossy(), &new.to_string_lossy())
            })
        };
        let path = self.path.iter();
        let variables = self.variables.iter();
        Self {
            path: path
                .map(|place| moved(&place.to_string_lossy()).into())
                .collect(),
            variables: variables
                .map(|(name, value)| (name.clone(), moved(value)))
                .collect(),
            places: Some((tree.to_owned(), home.to_owned())),
        }
    }
}

/// `{"NAME": "VALUE", …}`; `null` takes one away, which Carson's own are not for.
fn of_json(
    toolchain: Toolchain,
    answer: &str,
) -> Result<(Vec<PathBuf>, BTreeMap<String, String>), AnswerError> {
    // Nothing to say is said with nothing.
    if answer.trim().is_empty() {
        return Ok(Default::default());
    }
    let all: BTreeMap<String, Option<String>> = serde_json::from_str(answer)
        .map_err(|error| AnswerError::Garbled(toolchain, error.to_string()))?;
    let path = all.get("PATH").cloned().flatten().unwrap_or_default();
    let said = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let variables = said.filter(|(name, value)| is_admitted(name) && is_text(value));
    Ok((std::env::split_paths(&path).collect(), variables.collect()))
}

/// Names that say how a shell stands, and what the programs remember for themselves.
const OF_A_SHELL: [&str; 6] = ["PATH", "PWD", "OLDPWD", "SHLVL", "_", "TERM"];
const THEIR_OWN: [&str; 4] = ["DIRENV_", "__MISE", "MISE_", "ASDF_"];

fn is_admitted(name: &str) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 100
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let upper = name.to_ascii_uppercase();
    is_name
        && !OF_A_SHELL.contains(&name)
        && !THEIR_OWN.iter().any(|begin| name.starts_with(begin))
        && !upper.starts_with("CARSON_")
        && family(name).is_none()
}

fn is_text(value: &str) -> bool {
    value.len() <= LONGEST
        && !value
            .chars()
            .any(|letter| letter.is_control() && letter != '\t')
}

/// What may be on a `PATH`: nothing that depends on where a program stands.
fn is_place(place: &std::path::Path) -> bool {
    let text = place.to_string_lossy();
    place.is_absolute() && is_text(&text) && !text.contains(':') && !text.contains("/../")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn taken(toolchain: Toolchain, answer: &str) -> Result<Found, AnswerError> {
        let mut found = Found::default();
        found.take(toolchain, answer, OsStr::new("/usr/bin:/bin"))?;
        Ok(found)
    }

    #[test]
    fn what_is_new_on_the_path_comes_first_and_the_rest_is_the_operator_s() {
        let answer = r#"{"PATH": "/t/node/bin:/usr/bin:relative:/bin:/a/../b:/t/x/bin", "APP_ENV": "test", "GONE": null}"#;
        let found = taken(Toolchain::Mise, answer).unwrap();
        let path = found.before(OsStr::new("/usr/bin:/bin"));
        assert_eq!(path, "/t/node/bin:/t/x/bin:/usr/bin:/bin");
        assert_eq!(found.variables.keys().collect::<Vec<_>>(), ["APP_ENV"]);
    }

    #[test]
    fn nothing_comes_in_that_a_session_is_not_to_have() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "CARSON_HOOK_COMMAND",
            "carson_hook_events",
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "SSH_AUTH_SOCK",
            "DIRENV_DIFF",
            "MISE_CONFIG_DIR",
            "PWD",
            "A-B",
            "",
            "1A",
        ] {
            let answer = serde_json::json!({ name: "x" }).to_string();
            let found = taken(Toolchain::Direnv, &answer).unwrap();
            assert!(found.variables.is_empty(), "{name}");
        }
        let odd = taken(Toolchain::Direnv, "{\"A\": \"x\\ny\", \"B\": \"fine\"}").unwrap();
        assert_eq!(odd.variables.keys().collect::<Vec<_>>(), ["B"]);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert_eq!(taken(Toolchain::Direnv, " \n").unwrap(), Found::default());
        for answer in ["[]", "{\"A\": 1}", "hello", "{"] {
            assert!(taken(Toolchain::Mise, answer).is_err(), "{answer}");
        }
        let many = (0..300).map(|number| format!("/t/{number}/bin\n"));
        let error = taken(Toolchain::Asdf, &many.collect::<String>()).unwrap_err();
        assert_eq!(error, AnswerError::TooMuch(Toolchain::Asdf));
        let found = taken(Toolchain::Asdf, "/a/bin\nno version\n/b/bin\n").unwrap();
        assert_eq!(found.path, [Path::new("/a/bin"), Path::new("/b/bin")]);
    }

    #[test]
    fn another_room_has_its_own_places() {
        let mut found = taken(
            Toolchain::Direnv,
            r#"{"PATH": "/w/tree/bin:/w/home/.local/bin:/opt/bin", "ROOT": "/w/tree"}"#,
        )
        .unwrap();
        found.places = Some(("/w/tree".into(), "/w/home".into()));
        let there = found.at(Path::new("/r/1/tree"), Path::new("/r/1/home"));
        let path = there.before(OsStr::new("/bin"));
        assert_eq!(path, "/r/1/tree/bin:/r/1/home/.local/bin:/opt/bin:/bin");
        assert_eq!(there.variables["ROOT"], "/r/1/tree");
        assert_eq!(found.at(Path::new("/w/tree"), Path::new("/w/home")), found);
    }
}
