//! Which files of a repository changed, as ralph-loop sees it: by the times and the size of each.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use super::ended::Ended;
use super::place::Place;
use super::settings::StateMethod;

/// Times and size of a file: what `ls` shows of one that was written again differs.
type Print = (i64, i64, i64, i64, u64);

/// Every file of a repository with its print; a link is one, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(BTreeMap<Vec<u8>, Print>);

/// The files of the repository as they were, in `fixing`.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// The newest look.
    pub state: Option<State>,
    /// Whether the events say how it was looked.
    pub is_logged: bool,
}

/// How a state was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What was seen.
    pub state: State,
    /// `full` or `git`.
    pub method: &'static str,
}

/// Looks at the repositories of runs.
#[derive(Clone, Debug)]
pub struct Looker<'l> {
    /// Where.
    pub place: &'l Place,
    /// How.
    pub method: StateMethod,
    /// The git program, where there is one.
    pub git: Option<PathBuf>,
    /// The environment that it gets.
    pub env: &'l [(std::ffi::OsString, std::ffi::OsString)],
}

impl State {
    /// Paths that are not the same in both, in their order.
    #[must_use]
    pub fn changes(&self, after: &Self) -> Vec<Vec<u8>> {
        let gone_or_changed = self
            .0
            .iter()
            .filter(|(path, print)| after.0.get(*path) != Some(print));
        let new = after.0.keys().filter(|path| !self.0.contains_key(*path));
        let mut paths: Vec<Vec<u8>> = gone_or_changed.map(|(path, _)| path.clone()).collect();
        paths.extend(new.cloned());
        paths.sort();
        paths
    }
}

impl Looker<'_> {
    /// Looks.
    ///
    /// # Errors
    /// When a file cannot be looked at, or git was asked for where it would hide something.
    pub async fn look(&self) -> Result<Seen, Ended> {
        if self.may_ask_git().await?
            && let Some(names) = self
                .git(&[
                    "ls-files",
                    "-z",
                    "--cached",
                    "--others",
                    "--exclude-standard",
                ])
                .await
        {
            let method = "git";
            let names = names
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            let state = self.prints(names.map(<[u8]>::to_vec))?;
            return Ok(Seen { state, method });
        }
        let mut names = Vec::new();
        walk(&self.place.root, b"", &mut names).map_err(Ended::io(
            "enumerate repository files for state snapshot",
            &self.place.root,
        ))?;
        let method = "full";
        let state = self.prints(names.into_iter())?;
        Ok(Seen { state, method })
    }

    /// Git does not see what it ignores.
    async fn may_ask_git(&self) -> Result<bool, Ended> {
        if self.method == StateMethod::Full || self.git.is_none() {
            return Ok(false);
        }
        let inside = self.git(&["rev-parse", "--is-inside-work-tree"]).await;
        if inside.is_none_or(|said| said.trim_ascii() != b"true") {
            return Ok(false);
        }
        let ignored = [
            "ls-files",
            "--others",
            "-i",
            "--exclude-standard",
            "--directory",
        ];
        let ignored = self
            .git(&[&ignored[..], &["--no-empty-directory", "-z"]].concat())
            .await;
        let hides = ignored.is_none_or(|names| !names.is_empty());
        if hides && self.method == StateMethod::Git {
            return Err(Ended::failed(
                "RALPH_FIXING_STATE_METHOD=git is unsafe with ignored paths; use auto or full",
            ));
        }
        Ok(!hides)
    }

    /// What git says; nothing when it fails. What a fix may have configured does not run.
    async fn git(&self, words: &[&str]) -> Option<Vec<u8>> {
        let command = Command::new(self.git.clone()?, &self.place.root)
            .args([
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .args(words.iter().copied())
            .exact_env(self.env.to_vec())
            .env("GIT_OPTIONAL_LOCKS", "0");
        let limits = Limits {
            keep: 256 << 20,
            max_output: 512 << 20,
            ..Limits::within(Duration::from_secs(120))
        };
        let done = capture(&command, &limits).await.ok()?;
        (done.success() && !done.stdout.is_truncated()).then(|| done.stdout.bytes())
    }

    fn prints(&self, names: impl Iterator<Item = Vec<u8>>) -> Result<State, Ended> {
        let mut state = BTreeMap::new();
        for name in names.filter(|name| !self.place.is_own(name)) {
            let path = self.place.root.join(OsStr::from_bytes(&name));
            match fs::symlink_metadata(&path) {
                Ok(found) => {
                    let print = (
                        found.mtime(),
                        found.mtime_nsec(),
                        found.ctime(),
                        found.ctime_nsec(),
                        found.size(),
                    );
                    state.insert(name, print);
                }
                // It went meanwhile, or git knows one that is gone.
                Err(error) if is_absence(&error) => {}
                Err(error) => {
                    let path = path.display();
                    return Err(Ended::Failed(format!(
                        "Could not read file metadata for: {path} ({error})"
                    )));
                }
            }
        }
        Ok(State(state))
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Files and links below a directory, but for `.git` at the top. No link is followed.
fn walk(dir: &Path, name: &[u8], found: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    let items = match fs::read_dir(dir) {
        Ok(items) => items,
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    for item in items {
        let item = item?;
        let file = item.file_name();
        if name.is_empty() && file == ".git" {
            continue;
        }
        let slash: &[u8] = if name.is_empty() { b"" } else { b"/" };
        let path = [name, slash, file.as_bytes()].concat();
        let kind = match item.file_type() {
            Ok(kind) => kind,
            Err(error) if is_absence(&error) => continue,
            Err(error) => return Err(error),
        };
        if kind.is_dir() {
            walk(&item.path(), &path, found)?;
        } else if kind.is_file() || kind.is_symlink() {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
