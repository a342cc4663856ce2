//! What each attempt left, so that the tree can be brought back there.
//!
//! The first one, before attempt 1, has everything that counts; the others have what differs from it. What is in the
//! files is kept once, whoever has it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::LoopError;
use crate::head::head;
use crate::json_file::{self, FileError, Sync};
use crate::own_file;
use crate::place::Place;
use crate::tree::{
    Contents, Entry, Look, Rules, Snapshot, TreeError, TreePath, is_own, read_plain,
};

/// Bytes of a checkpoint's list.
const LIST: u64 = 4 << 30;
/// Bytes of an index.
const INDEX: u64 = 1 << 30;

/// A checkpoint, written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// What stands where, or in the place of what the first one has.
    entries: Vec<Placed>,
    /// What the first one has and this one does not.
    gone: Vec<TreePath>,
    /// It has everything itself: there was no first one, as another program made the attempts before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    whole: bool,
    /// What stands there, was ignored, and is no attempt's: a way back made it visible.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    spared: BTreeSet<TreePath>,
    /// Where a `.git` stands in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repositories: Option<BTreeSet<TreePath>>,
    #[serde(flatten)]
    repository: Repository,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Placed {
    path: TreePath,
    #[serde(flatten)]
    entry: Entry,
}

/// What is kept of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// The commit that HEAD names.
    pub head: Option<String>,
    /// The bytes of its index; none of one that is not there.
    pub index: Option<Digest>,
    /// Where the tree is below the top of its work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// What git has under way: a merge, a rebase. Their files are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<BTreeSet<String>>,
}

/// A checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// The tree.
    pub tree: Snapshot,
    /// The repository.
    pub repository: Repository,
    /// Where a `.git` stood in the tree; `None` where nobody wrote that down.
    pub repositories: Option<BTreeSet<TreePath>>,
}

/// The checkpoints of a loop.
#[derive(Debug)]
pub struct Checkpoints {
    dir: PathBuf,
    /// Contents of files.
    pub contents: Contents,
    first: Option<Snapshot>,
}

/// What the list before the first attempt is called.
const FIRST: u32 = 0;
/// What the loop saw last, where that is no attempt's.
const SEEN: &str = "seen.json";

impl Checkpoints {
    /// Opens them. One process at a time may.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn open(place: &Place) -> Result<Self, LoopError> {
        Ok(Self {
            contents: Contents::open(&place.contents())?,
            dir: place.checkpoints(),
            first: None,
        })
    }

    fn file(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{number:03}.json"))
    }

    /// Whether there is one of an attempt.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        self.file(number)
            .symlink_metadata()
            .is_ok_and(|found| found.is_file())
    }

    /// Looks at the tree, keeps what is in it, and writes it down as what an attempt left. What of the repository
    /// could not be kept is left out.
    ///
    /// # Errors
    /// When the tree cannot be looked at, or the disk says no.
    pub fn make(
        &mut self,
        number: u32,
        (root, rules): (&Path, &Rules),
        before: Option<&Snapshot>,
    ) -> Result<Checkpoint, LoopError> {
        let look = Look {
            before,
            ..Look::at(root, rules)
        };
        let repository = self.repository(rules)?;
        let tree = look.keeping(&mut self.contents)?;
        let file = self.file(number);
        let none = BTreeSet::new();
        self.write(&file, number == FIRST, &tree, repository.clone(), none)?;
        // It says itself what was seen last.
        let _ = std::fs::remove_file(self.dir.join(SEEN));
        Ok(Checkpoint {
            repositories: Some(tree.repositories().clone()),
            tree,
            repository,
        })
    }

    /// Writes down what the loop saw last, and what of it is no attempt's and is to be spared; what is in the files is
    /// not kept.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn saw(
        &mut self,
        tree: &Snapshot,
        repository: Repository,
        spared: &BTreeSet<TreePath>,
    ) -> Result<(), LoopError> {
        self.contents.flush()?;
        let file = self.dir.join(SEEN);
        let stands = |path: &&TreePath| tree.get(path).is_some();
        let spared = spared.iter().filter(stands).cloned().collect();
        self.write(&file, false, tree, repository, spared)
    }

    /// What was to be spared of what the loop saw last.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn spared(&self) -> Result<BTreeSet<TreePath>, LoopError> {
        match read(&self.dir.join(SEEN)) {
            Ok(kept) => Ok(kept.spared),
            Err(error) if error.is_absent() => Ok(BTreeSet::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// What the loop saw last: after its last check, or after this attempt.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn last_seen(&mut self, attempt: u32) -> Result<Checkpoint, LoopError> {
        let file = self.dir.join(SEEN);
        match self.read(&file) {
            // Of the repository older ones say nothing.
            Ok(seen) if seen.repository.below.is_none() => Ok(Checkpoint {
                repository: self.get(attempt)?.repository,
                ..seen
            }),
            Err(LoopError::File(error)) if error.is_absent() => self.get(attempt),
            other => other,
        }
    }

    /// The one of an attempt.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&mut self, number: u32) -> Result<Checkpoint, LoopError> {
        self.read(&self.file(number))
    }

    /// Keeps of the repository what is kept of it.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn repository(&mut self, rules: &Rules) -> Result<Repository, TreeError> {
        let Some(git) = rules.git() else {
            return Ok(Repository::default());
        };
        let index = match read_plain(&git.index(), INDEX) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(Vec::new()),
            other => other.ok().flatten(),
        };
        let index = index
            .map(|bytes| self.contents.keep(bytes.as_slice()))
            .transpose()?;
        Ok(Repository {
            head: head(git),
            index: index.and_then(Result::ok).map(|(hash, _)| hash),
            below: Some(rules.prefix()),
            under_way: Some(git.under_way()),
        })
    }

    fn first(&mut self) -> Result<&Snapshot, LoopError> {
        if self.first.is_none() {
            let kept = read(&self.file(FIRST))?;
            self.first = Some(Snapshot::of_entries(placed(kept.entries)));
        }
        Ok(self.first.get_or_insert_default())
    }

    fn write(
        &mut self,
        file: &Path,
        is_first: bool,
        tree: &Snapshot,
        repository: Repository,
        spared: BTreeSet<TreePath>,
    ) -> Result<(), LoopError> {
        let (mut entries, mut gone) = (Vec::new(), Vec::new());
        let is_whole = !is_first && !self.has(FIRST);
        if is_first || is_whole {
            let all = tree
                .entries()
                .map(|(path, entry)| (path.clone(), entry.clone()));
            entries = all.map(|(path, entry)| Placed { path, entry }).collect();
            self.first = is_first.then(|| tree.clone());
        } else {
            for change in self.first()?.changes(tree) {
                match change.after {
                    Some(entry) => entries.push(Placed {
                        path: change.path,
                        entry,
                    }),
                    None => gone.push(change.path),
                }
            }
        }
        let kept = Kept {
            entries,
            gone,
            whole: is_whole,
            spared,
            repositories: Some(tree.repositories().clone()),
            repository,
        };
        let text = serde_json::to_vec(&kept).map_err(|error| FileError::io(file)(error.into()));
        let written = json_file::write_bytes(file, &text?, Sync::Later);
        Ok(written.map_err(FileError::io(file))?)
    }

    fn read(&mut self, file: &Path) -> Result<Checkpoint, LoopError> {
        let kept = read(file)?;
        let none = Snapshot::default();
        let first = if kept.whole { &none } else { self.first()? };
        let mut entries: BTreeMap<_, _> = first
            .entries()
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect();
        for path in &kept.gone {
            entries.remove(path);
        }
        entries.extend(placed(kept.entries));
        Ok(Checkpoint {
            tree: Snapshot::of_entries(entries),
            repository: kept.repository,
            repositories: kept.repositories,
        })
    }
}

fn placed(entries: Vec<Placed>) -> impl Iterator<Item = (TreePath, Entry)> {
    entries
        .into_iter()
        .map(|placed| (placed.path, placed.entry))
}

fn read(file: &Path) -> Result<Kept, FileError> {
    let bytes = own_file::read(file, LIST).map_err(FileError::io(file))?;
    let bytes = bytes.ok_or_else(|| FileError::TooLong {
        path: file.to_owned(),
        most: LIST,
    })?;
    let kept: Kept = json_file::parse(file, &bytes)?;
    let placed = kept.entries.iter().map(|placed| &placed.path);
    let mut all = placed.chain(&kept.gone).chain(&kept.spared);
    match all.find(|path| path.parts().any(is_own)) {
        None => Ok(kept),
        Some(path) => Err(FileError::Malformed {
            path: file.to_owned(),
            line: 1,
            column: 1,
            detail: format!(
                "{path} is a repository's own file, or Carson's, and in no checkpoint: somebody else wrote this one"
            ),
        }),
    }
}
