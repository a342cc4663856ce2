//! What a setup left becomes a layer.
//!
//! A setup runs in a workspace of its own on a base commit, and its result is put below workspaces on
//! other commits, as long as what it depends on is the same. So nothing of the base itself may be in it:
//! what the setup changed of tracked files is taken out again, and the base shows through.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use carson_proc::inspector::{Desk, Inspector, Question};
use carson_proc::sandbox::{Marks, Overlay};
use git2::Index;
use serde::{Deserialize, Serialize};

use super::bounds::DEPTH;
use super::generated;
use crate::error::GitError;
use crate::ignore_pattern::of_bytes;
use crate::layered::on_disk;
use crate::paths::path_of;
use crate::seen::bounds;

/// Entries of a setup's result; a large `node_modules` has a tenth of it.
const ENTRIES: usize = 3_000_000;
/// Places that are told to git as not its own.
const TOLD: usize = 5_000;
/// Directories in which nobody works by hand, beside what is generated everywhere, and repositories: told as a whole. Elsewhere each file is told by itself, so that
/// what a session adds beside it is seen.
const MADE: [&str; 3] = ["target", "venv", ".yarn"];

/// What a setup left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// What its files take on the disk.
    pub bytes: u64,
    /// Files, and directories of what is made, that the base does not have, as git writes patterns.
    pub untracked: Vec<String>,
    /// The topmost files and directories that the base does not have. A base that tracks something at one
    /// of them, or below it, would be hidden there; an empty one stands for all there is.
    pub places: Vec<String>,
}

/// Takes what is tracked out of a setup's result, and measures the rest.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Strip {
    /// What the setup wrote above the checkout.
    upper: PathBuf,
    /// Other directories that it wrote, to be measured.
    beside: Vec<PathBuf>,
    /// The index of the checkout.
    index: PathBuf,
}

impl Question for Strip {
    const NAME: &'static str = "strip-setup";
    type Answer = Left;

    fn answer(self) -> Result<Left, String> {
        let index = Index::open(&self.index).map_err(|error| error.message().to_owned())?;
        let mut left = Left::default();
        let (mut untracked, mut places) = (BTreeSet::new(), BTreeSet::new());
        walk(&self.upper, &mut |path, found| {
            let is_tracked = index.get_path(&path_of(path), 0).is_some();
            let tracked_below = || index.find_prefix([path, b"/"].concat()).is_ok();
            let replaced = |what: &str| {
                let path = String::from_utf8_lossy(path);
                Err(format!("the setup replaces {what}: {path}"))
            };
            if found.is_dir() {
                left.bytes += on_disk(found);
                if is_tracked {
                    return replaced("a tracked file by a directory");
                }
                if !tracked_below() {
                    note_place(&mut places, path);
                }
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                let named = MADE.iter().any(|made| name == made.as_bytes());
                // For git a repository in there is one thing, whatever is told of its files.
                let is_repository = self.upper.join(path_of(path)).join(".git");
                let is_made = named
                    || generated::is_directory(name)
                    || is_repository.symlink_metadata().is_ok();
                if is_made && !is_tracked && !tracked_below() {
                    note(&mut untracked, path, true);
                }
                return Ok(());
            }
            let is_gone = found.file_type().is_char_device() && found.rdev() == 0;
            if !is_gone && tracked_below() {
                return replaced("a directory that holds tracked files");
            }
            if is_tracked || is_gone {
                let file = self.upper.join(path_of(path));
                return fs::remove_file(&file).map_err(|error| error.to_string());
            }
            left.bytes += on_disk(found);
            note_place(&mut places, path);
            note(&mut untracked, path, false);
            Ok(())
        })?;
        left.places = match places.len() > TOLD {
            true => vec![String::new()],
            false => places.into_iter().collect(),
        };
        for dir in &self.beside {
            walk(dir, &mut |_, found| {
                left.bytes += on_disk(found);
                Ok(())
            })?;
        }
        left.untracked = untracked.into_iter().take(TOLD).collect();
        Ok(left)
    }
}

/// Adds a place, unless one above it is there. A name that is no text stands for all.
fn note_place(places: &mut BTreeSet<String>, path: &[u8]) {
    let path = std::str::from_utf8(path).unwrap_or_default();
    let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
    if !above.any(|dir| places.contains(dir)) {
        places.insert(path.to_owned());
    }
}

/// Adds a place, unless one above it is there: parents come first.
fn note(untracked: &mut BTreeSet<String>, path: &[u8], is_dir: bool) {
    let cuts = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut above = cuts.map(|(at, _)| of_bytes(&path[..at]) + "/");
    if above.any(|dir| untracked.contains(&dir)) {
        return;
    }
    let end = if is_dir { "/" } else { "" };
    untracked.insert(of_bytes(path) + end);
}

type Visit<'v> = dyn FnMut(&[u8], &fs::Metadata) -> Result<(), String> + 'v;

/// Everything below a directory, parents first.
fn walk(top: &Path, visit: &mut Visit<'_>) -> Result<(), String> {
    let mut todo = vec![Vec::new()];
    let mut seen = 0;
    while let Some(dir) = todo.pop() {
        let here = top.join(path_of(&dir));
        let said = |error: std::io::Error| format!("{}: {error}", here.display());
        for item in fs::read_dir(&here).map_err(said)? {
            let item = item.map_err(said)?;
            seen += 1;
            let mut path = dir.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend(item.file_name().as_bytes());
            let depth = path.iter().filter(|byte| **byte == b'/').count();
            if seen > ENTRIES || depth > DEPTH {
                return Err(
                    "the setup left more files, or deeper directories, than are read".into(),
                );
            }
            let found = item.metadata().map_err(said)?;
            visit(&path, &found)?;
            if found.is_dir() {
                todo.push(path);
            }
        }
    }
    Ok(())
}

/// Whether every tracked file is seen through a setup's result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShowsBase {
    /// The tree, put together.
    at: PathBuf,
    /// The index of the checkout.
    index: PathBuf,
}

impl Question for ShowsBase {
    const NAME: &'static str = "shows-base";
    type Answer = ();

    fn answer(self) -> Result<(), String> {
        let index = Index::open(&self.index).map_err(|error| error.message().to_owned())?;
        for entry in index.iter() {
            let path = path_of(&entry.path);
            let there = self.at.join(&path).symlink_metadata().is_ok();
            if !there {
                let path = path.display();
                return Err(format!(
                    "the setup replaces a directory that holds tracked files: {path} is not seen any more"
                ));
            }
        }
        Ok(())
    }
}

/// Makes what a setup wrote in `upper`, above the layers `base` with this index, fit to lie below
/// workspaces. `beside` is measured with it; `at` is where trees are seen, and `own` a directory of ours
/// for the asking.
///
/// # Errors
/// When it holds too much, or hides tracked files.
pub async fn strip_setup(
    inspector: &Inspector,
    (upper, base, index): (&Path, &[PathBuf], &Path),
    beside: &[PathBuf],
    (at, marks): (&Path, Marks),
    own: &Path,
) -> Result<Left, GitError> {
    let unseen = |source| GitError::Unseen {
        path: upper.to_owned(),
        source,
    };
    let question = Strip {
        upper: upper.to_owned(),
        beside: beside.to_vec(),
        index: index.to_owned(),
    };
    let desk = Desk {
        own: own.to_owned(),
        read: beside.iter().cloned().chain([index.to_owned()]).collect(),
        write: vec![upper.to_owned()],
        ..Desk::default()
    };
    let left = inspector.ask(&question, &desk, &bounds()).await;
    let left = left.map_err(unseen)?;
    let question = ShowsBase {
        at: at.to_owned(),
        index: index.to_owned(),
    };
    let desk = Desk {
        own: own.to_owned(),
        read: vec![at.to_owned(), index.to_owned()],
        overlays: vec![Overlay {
            at: at.to_owned(),
            lower: std::iter::once(upper.to_owned())
                .chain(base.iter().cloned())
                .collect(),
            upper: None,
            marks,
            renames: false,
        }],
        ..Desk::default()
    };
    let shown = inspector.ask(&question, &desk, &bounds()).await;
    shown.map(|()| left).map_err(unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_topmost_places_are_told_and_as_patterns_of_just_themselves() {
        let mut told = BTreeSet::new();
        note(&mut told, b"node_modules", true);
        note(&mut told, b"node_modules/a", true);
        note(&mut told, b"node_modules/a/x", false);
        note(&mut told, b"src/*new [1]", false);
        note(&mut told, b"line\n*", false);
        let wanted = ["/line?\\*", "/node_modules/", "/src/\\*new\\ \\[1]"];
        assert_eq!(told.into_iter().collect::<Vec<_>>(), wanted);
    }
}
