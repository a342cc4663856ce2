//! Where a server works with loops: no argument leads anywhere else.

use std::path::{Path, PathBuf};

use carson_loop::api;
use carson_loop::error::LoopError;
use carson_loop::place::{Layout, Place};

use crate::refused::Refused;

/// The longest path that is looked at.
const LONGEST: usize = 4_096;

/// Directories that were given by who started the server. A loop of any of them is looked at. What is granted
/// for loops is granted below the roots, and where there are none in the directory that the server was started
/// in: who has one line for all projects names those whose commands may run.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// The one that it was started in: its loop, and none below it.
    pub here: Option<PathBuf>,
    /// Those in which, and below which, it works.
    pub below: Vec<PathBuf>,
}

impl Roots {
    /// The loop of the directory that an argument names: the nearest one upward, as long as that is no further
    /// up than the server may work.
    pub(crate) fn loop_in(&self, asked: Option<&str>) -> Result<Place, Refused> {
        let from = self.directory(asked)?;
        let place = api::find(&from, Layout::Native)?;
        if !self.hold(place.root()) {
            return Err(LoopError::None { from }.into());
        }
        // Whoever made the repository may have put links in the place of the loop's files, and what is wrong in a
        // file is told with a piece of it; or a pipe, at whose end nobody writes.
        for file in own_files(&place) {
            let is_its_own = match file.symlink_metadata() {
                Ok(found) => found.is_file() || found.is_dir(),
                Err(_) => true,
            };
            if !is_its_own {
                return Err(Refused::NoFile { file });
            }
        }
        Ok(place)
    }

    /// Whether what is granted for loops is granted for the loop of this tree.
    pub(crate) fn are_granted(&self, tree: &Path) -> bool {
        self.below.is_empty() || self.is_below(tree)
    }

    /// The directory that an argument names, by its real path: links are followed first, and what counts is
    /// where they lead. That something is not there and that it lies elsewhere is the same answer: nobody
    /// learns what there is.
    fn directory(&self, asked: Option<&str>) -> Result<PathBuf, Refused> {
        let Some(asked) = asked else {
            return self.only();
        };
        let elsewhere = || Refused::Elsewhere {
            asked: asked.chars().take(200).collect(),
            works_in: self.names(),
        };
        if asked.is_empty() || asked.len() > LONGEST || asked.contains('\0') {
            return Err(elsewhere());
        }
        let path = match (self.start(), Path::new(asked)) {
            (Some(from), path) => from.join(path),
            (None, path) if path.is_absolute() => path.to_owned(),
            (None, _) => return Err(elsewhere()),
        };
        let found = real(&path).ok_or_else(elsewhere)?;
        match self.hold(&found) || self.is_in_here(&found) {
            true => Ok(found),
            false => Err(elsewhere()),
        }
    }

    /// Whether a directory lies in the one that the server was started in: its loop may be meant, and no other.
    fn is_in_here(&self, found: &Path) -> bool {
        let here = self.here.as_deref().and_then(real);
        here.is_some_and(|here| found.starts_with(here))
    }

    /// The one that is meant where nobody says.
    fn only(&self) -> Result<PathBuf, Refused> {
        let found = self.start().and_then(real);
        found.ok_or_else(|| Refused::WhichDirectory {
            works_in: self.names(),
        })
    }

    /// From where relative paths lead.
    fn start(&self) -> Option<&Path> {
        match (&self.here, self.below.as_slice()) {
            (Some(here), _) => Some(here),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    fn hold(&self, found: &Path) -> bool {
        let is_here = self.here.as_deref().and_then(real);
        is_here.as_deref() == Some(found) || self.is_below(found)
    }

    fn is_below(&self, found: &Path) -> bool {
        let mut roots = self.below.iter().filter_map(|root| real(root));
        roots.any(|root| found.starts_with(root))
    }

    fn names(&self) -> Vec<String> {
        let all = self.here.iter().chain(&self.below);
        all.map(|dir| dir.display().to_string()).collect()
    }
}

/// Those that are read when a loop is looked at, and written when it is asked for something. What attempts
/// printed is looked at where it is told.
fn own_files(place: &Place) -> [PathBuf; 12] {
    let alpf = place.root().join(".alpf");
    [
        place.config(),
        place.state(),
        place.events(),
        place.lock(),
        place.edit_lock(),
        place.stop(),
        place.log(),
        place.attempts(),
        place.checkpoints(),
        place.runs(),
        place.alpf_config(),
        alpf,
    ]
}

/// A directory with no link and no `..` in its path.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scene() -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["here/sub", "root/project/deep", "rootless", "secret"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("root/file"), "").unwrap();
        symlink(at("secret"), at("root/link")).unwrap();
        symlink(at("root/project"), at("here/project")).unwrap();
        symlink("/", at("root/project/top")).unwrap();
        let roots = Roots {
            here: Some(at("here")),
            below: vec![at("root")],
        };
        (dir, roots)
    }

    #[test]
    fn a_directory_is_the_one_that_was_started_in_or_one_below_a_root() {
        let (dir, roots) = scene();
        let dir = dir.path().canonicalize().unwrap();
        let found = |asked| roots.directory(asked).unwrap();
        assert_eq!(found(None), dir.join("here"));
        assert_eq!(found(Some(".")), dir.join("here"));
        assert_eq!(found(Some("sub")), dir.join("here/sub"));
        assert_eq!(found(Some("../root")), dir.join("root"));
        assert_eq!(found(Some("project/deep")), dir.join("root/project/deep"));
        let absolute = dir.join("root/project/../project");
        assert_eq!(
            found(Some(absolute.to_str().unwrap())),
            dir.join("root/project")
        );
    }

    #[test]
    fn no_path_leads_out_of_them_or_says_what_is_there() {
        let (dir, roots) = scene();
        let secret = dir.path().join("secret").display().to_string();
        let long = "a/".repeat(3_000);
        for asked in [
            "..",
            "../secret",
            "../rootless",
            "../root/link",
            "../root/project/top",
            "../root/project/top/etc",
            "../root/../secret",
            "../root/file",
            "../root/nothing",
            "/",
            "/etc",
            "/proc/self/root",
            "/proc/self/cwd",
            "~",
            "",
            "here\0",
            secret.as_str(),
            long.as_str(),
        ] {
            let refused = roots.directory(Some(asked)).unwrap_err();
            let said = refused.to_string();
            assert!(
                said.ends_with("no directory that this server works in"),
                "{said}"
            );
            assert!(refused.hints()[0].starts_with("it works in: "));
        }
    }

    /// From a directory below it the loop of the one that the server was started in is found, and no other one there.
    #[test]
    fn below_where_it_was_started_only_its_own_loop_is_meant() {
        let (dir, roots) = scene();
        let here = dir.path().canonicalize().unwrap().join("here");
        let make = |at: &Path| {
            std::fs::create_dir_all(at.join(".carson/loop")).unwrap();
            std::fs::write(at.join(".carson/loop/config.json"), "{}").unwrap();
        };
        assert!(roots.loop_in(Some("sub")).is_err(), "there is none");
        make(&here);
        let found = roots.loop_in(Some("sub")).unwrap();
        assert_eq!(found.root(), here);
        make(&here.join("sub"));
        assert!(roots.loop_in(Some("sub")).is_err(), "another one's");
    }

    #[test]
    fn what_is_granted_is_granted_below_the_roots_and_where_it_was_started_only_without_any() {
        let (dir, roots) = scene();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        let granted = ["root", "root/project/deep", "here", "rootless"];
        let granted = |roots: &Roots| granted.map(|name| roots.are_granted(&at(name)));
        assert_eq!(granted(&roots), [true, true, false, false]);
        let around = Roots {
            below: vec![dir.path().to_owned()],
            ..roots.clone()
        };
        assert_eq!(granted(&around), [true; 4]);
        // A root that is gone is still one: nothing else is granted in its place.
        let gone = Roots {
            below: vec![dir.path().join("gone")],
            ..roots.clone()
        };
        assert_eq!(granted(&gone), [false; 4]);
        let alone = Roots {
            below: Vec::new(),
            ..roots
        };
        assert!(alone.are_granted(&at("here")));
    }

    #[test]
    fn a_server_that_was_started_nowhere_wants_to_know_which() {
        let (dir, roots) = scene();
        let one = Roots {
            here: None,
            ..roots
        };
        let root = dir.path().canonicalize().unwrap().join("root");
        assert_eq!(one.directory(None).unwrap(), root);
        assert_eq!(
            one.directory(Some("project")).unwrap(),
            root.join("project")
        );
        let two = Roots {
            here: None,
            below: vec![dir.path().join("root"), dir.path().join("secret")],
        };
        for asked in [None, Some("project")] {
            let refused = two.directory(asked).unwrap_err();
            assert!(refused.hints()[0].contains("secret"), "{refused}");
        }
        let absolute = root.join("project").display().to_string();
        assert!(two.directory(Some(&absolute)).is_ok());
        let none = Roots::default().directory(None).unwrap_err();
        assert!(none.hints()[0].contains("--root"), "{none}");
    }
}
