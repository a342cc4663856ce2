//! Where things are: beside the PRD what is the loop's, in the repository what is worked on.

use std::path::{Path, PathBuf};

use super::ended::Ended;
use crate::own_file::{How, make_dir, open};
use crate::stories::scope::case_matches;
use crate::tree::GitDir;

/// All paths of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The directory of the PRD, where the loop's own files are.
    pub own: PathBuf,
    /// The PRD.
    pub prd: PathBuf,
    /// The file that it is written to: where a link leads to one, that, as it was when the run began.
    pub prd_file: PathBuf,
    /// What every prompt ends with.
    pub policy: PathBuf,
    /// The top of the repository.
    pub root: PathBuf,
    /// The same without links.
    pub real_root: PathBuf,
    /// State of runs.
    pub state: PathBuf,
}

impl Place {
    /// Finds them. `said` is what `RALPH_REPO_ROOT` says.
    ///
    /// # Errors
    /// When there is no repository, or a directory cannot be made.
    pub fn find(prd: &Path, policy: Option<&Path>, said: Option<&Path>) -> Result<Self, Ended> {
        let own = prd.parent().unwrap_or(Path::new("/")).to_owned();
        let root = root(prd, &own, said)?;
        let real_root = root
            .canonicalize()
            .map_err(Ended::io("find the repository", &root))?;
        let state = own.join(".runtime");
        make_dir(&state).map_err(Ended::io("make the state directory", &state))?;
        let place = Self {
            policy: policy.map_or_else(|| own.join("CODEX.md"), Path::to_owned),
            prd: prd.to_owned(),
            prd_file: prd.canonicalize().unwrap_or_else(|_| prd.to_owned()),
            state,
            root,
            real_root,
            own,
        };
        // It is there from the beginning: people follow it with `tail -f`.
        let log = place.run_log();
        open(&log, How::Append).map_err(Ended::io("write the run log", &log))?;
        Ok(place)
    }

    /// What was decided, line by line.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.state.join("events.log")
    }

    /// What tools printed, without secrets.
    #[must_use]
    pub fn run_log(&self) -> PathBuf {
        self.state.join("run.log")
    }

    /// A file beside the PRD.
    #[must_use]
    pub fn beside(&self, name: &str) -> PathBuf {
        self.own.join(name)
    }

    /// Whether a path of the repository, from its top, is the loop's own.
    #[must_use]
    pub fn is_own(&self, path: &[u8]) -> bool {
        let Some(rest) = self.below_own(path) else {
            return false;
        };
        let names = [
            ".runtime/*",
            ".prompt.*",
            ".last-message.*",
            ".prd.*.tmp",
            "progress.log.md",
        ];
        names.iter().any(|name| case_matches(name, rest))
    }

    /// Whether a path of the repository, from its top, is the file of learnings.
    #[must_use]
    pub fn is_learnings(&self, path: &[u8]) -> bool {
        self.below_own(path) == Some(b"learnings.md")
    }

    /// A path of the repository from the loop's own directory.
    fn below_own<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        let own = self.own.strip_prefix(&self.root).ok()?;
        let own = own.as_os_str().as_encoded_bytes();
        if own.is_empty() {
            return Some(path);
        }
        path.strip_prefix(own)?.strip_prefix(b"/")
    }
}

fn root(prd: &Path, own: &Path, said: Option<&Path>) -> Result<PathBuf, Ended> {
    if let Some(said) = said {
        let is_there = said.is_dir();
        let absolute = std::path::absolute(said).unwrap_or_else(|_| said.to_owned());
        let missing = || {
            Ended::Failed(format!(
                "RALPH_REPO_ROOT does not exist: {}",
                said.display()
            ))
        };
        return is_there.then_some(absolute).ok_or_else(missing);
    }
    let has_policy = prd.is_file() && own.join("CODEX.md").is_file();
    if own.ends_with(".codex/ralph-audit")
        && has_policy
        && let Some(root) = own.ancestors().nth(2)
    {
        return Ok(root.to_owned());
    }
    if has_policy {
        return Ok(own.to_owned());
    }
    let git = GitDir::of(own).map(|git| git.top);
    git.ok_or_else(|| {
        Ended::failed("Could not resolve repository root. Set RALPH_REPO_ROOT explicitly.")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn find(prd: &Path, said: Option<&Path>) -> Result<PathBuf, String> {
        let found = Place::find(prd, None, said);
        found
            .map(|place| place.root)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn where_the_repository_is() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let own = top.join(".codex/ralph-audit");
        fs::create_dir_all(&own).unwrap();
        let prd = own.join("prd.json");
        let none = find(&prd, None).unwrap_err();
        assert!(
            none.starts_with("Could not resolve repository root"),
            "{none}"
        );
        fs::create_dir_all(top.join(".codex/.git")).unwrap();
        fs::write(top.join(".codex/.git/HEAD"), "").unwrap();
        assert_eq!(find(&prd, None).unwrap(), top.join(".codex"), "by git");
        for name in ["prd.json", "CODEX.md"] {
            fs::write(own.join(name), "").unwrap();
            fs::write(top.join(name), "").unwrap();
        }
        assert_eq!(find(&prd, None).unwrap(), top, "embedded");
        assert_eq!(find(&top.join("prd.json"), None).unwrap(), top, "by itself");
        assert_eq!(find(&prd, Some(&own)).unwrap(), own, "as said");
        let gone = find(&prd, Some(Path::new("/no/such"))).unwrap_err();
        assert_eq!(gone, "RALPH_REPO_ROOT does not exist: /no/such");
    }

    #[test]
    fn what_is_the_loops_own() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let own = top.join("loop");
        fs::create_dir_all(&own).unwrap();
        let of = |own: &Path| Place::find(&own.join("prd.json"), None, Some(&top)).unwrap();
        for path in [
            "progress.log.md",
            ".runtime/events.log",
            ".runtime/a/b",
            ".prompt.x",
        ] {
            assert!(of(&top).is_own(path.as_bytes()), "{path}");
            assert!(!of(&own).is_own(path.as_bytes()), "{path}");
            assert!(of(&own).is_own(format!("loop/{path}").as_bytes()), "{path}");
        }
        assert!(!of(&top).is_own(b"prd.json") && !of(&own).is_own(b"loopx/progress.log.md"));
    }
}
