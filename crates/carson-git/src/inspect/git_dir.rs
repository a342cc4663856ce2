//! A git directory that a session could write: read as plain text, never by git.
//!
//! Git trusts the directory it works in: its configuration names programs, its alternates name
//! object stores, a pipe in the place of a ref blocks for ever. So nothing but names of commits is
//! read here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::bounds::{LOG, NAMES, PACKED_REFS};
use super::safe_read::{Within, items, tail, walk};
use crate::oid::Oid;

/// A ref is one line.
const REF: u64 = 4096;
/// Symbolic refs are followed this deep, as git does.
const DEEP: usize = 5;
/// Files that hold the only name of a commit while a rebase or merge is under way.
const UNDER_WAY: [&str; 5] = [
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_AUTOSTASH",
    "rebase-merge/autostash",
    "rebase-apply/autostash",
];

/// The directory of one worktree, and the repository it belongs to; often the same.
#[derive(Clone, Debug)]
pub(super) struct GitDir {
    /// `HEAD`, index and log.
    pub git: PathBuf,
    /// Refs and objects.
    pub common: PathBuf,
    pub within: Within,
}

/// What a repository remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Every ref, by its full name.
    pub refs: HashMap<String, Oid>,
    /// Commits that logs and operations under way name, newest first in each.
    pub logged: Vec<Oid>,
    /// There is more than was read.
    pub cut: bool,
}

impl GitDir {
    /// The git directory of the repository at `dir`, if it has one and it lies inside. One that
    /// lies elsewhere does not go when the bench goes.
    pub(super) fn at(dir: &Path, within: &Within) -> Option<Self> {
        let path = dir.join(".git");
        let git = match path.symlink_metadata().ok()?.is_file() {
            false => within.dir(&path)?,
            true => {
                let text = within.tail(&path, REF)?;
                let text = String::from_utf8(text).ok()?;
                within.dir(&dir.join(text.strip_prefix("gitdir: ")?.trim_end()))?
            }
        };
        let common = match within.tail(&git.join("commondir"), REF) {
            Some(text) => within.dir(&git.join(String::from_utf8(text).ok()?.trim_end()))?,
            None => git.clone(),
        };
        Some(Self {
            git,
            common,
            within: within.clone(),
        })
    }

    /// A repository without files of its own, such as a submodule's after its files went.
    pub(super) fn bare(dir: &Path, within: &Within) -> Option<Self> {
        let git = within.dir(dir)?;
        within.file(&git.join("HEAD"))?;
        within.dir(&git.join("objects"))?;
        Some(Self {
            common: git.clone(),
            git,
            within: within.clone(),
        })
    }

    /// The repositories of its submodules, and of theirs, whether or not their files are there; up to
    /// `most` directories are looked at.
    pub(super) fn modules(&self, most: usize) -> Vec<PathBuf> {
        // Each worktree has modules of its own.
        let places = self
            .worktrees()
            .into_iter()
            .chain([self.git.clone(), self.common.clone()]);
        let places: BTreeSet<PathBuf> = places.map(|place| place.join("modules")).collect();
        let (mut found, mut todo, mut seen) = (Vec::new(), Vec::from_iter(places), 0);
        while let Some(dir) = todo.pop().filter(|_| seen < most) {
            for item in items(&dir) {
                seen += 1;
                // A link leads to somebody else's.
                if !item.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                // A name may have slashes in it.
                match Self::bare(&item.path(), &self.within) {
                    Some(module) => {
                        todo.push(module.common.join("modules"));
                        found.push(module.common);
                    }
                    None => todo.push(item.path()),
                }
            }
        }
        found
    }

    /// The commit of `HEAD`.
    pub(super) fn head(&self) -> Option<Oid> {
        self.resolve("HEAD", DEEP)
    }

    /// The full name of the branch that `HEAD` is on.
    pub(super) fn branch_of_head(&self) -> Option<String> {
        let text = String::from_utf8(self.within.tail(&self.git.join("HEAD"), REF)?).ok()?;
        let name = text.strip_prefix("ref:")?.trim();
        is_ref(name).then(|| name.to_owned())
    }

    /// The commit of a ref.
    pub(super) fn target(&self, name: &str) -> Option<Oid> {
        self.resolve(name, DEEP)
    }

    fn resolve(&self, name: &str, deep: usize) -> Option<Oid> {
        let loose = [&self.git, &self.common]
            .into_iter()
            .find_map(|dir| self.within.tail(&dir.join(name), REF));
        let Some(loose) = loose else {
            return packed(&self.packed()).find_map(|(oid, found)| (found == name).then_some(oid));
        };
        let loose = String::from_utf8(loose).ok()?;
        match loose.trim().strip_prefix("ref:") {
            Some(next) if deep > 0 && is_ref(next.trim()) => self.resolve(next.trim(), deep - 1),
            Some(_) => None,
            None => loose.parse().ok(),
        }
    }

    fn packed(&self) -> String {
        let bytes = self
            .within
            .tail(&self.common.join("packed-refs"), PACKED_REFS);
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    /// Where a ref, or `HEAD`, has been, newest first.
    pub(super) fn log(&self, name: &str) -> Vec<Oid> {
        let dir = if name == "HEAD" {
            &self.git
        } else {
            &self.common
        };
        let log = self.within.tail(&dir.join("logs").join(name), LOG);
        entries(&log.unwrap_or_default())
    }

    /// Commits on no branch that `HEAD` went away from to a branch or to another commit, newest first. One that was reset
    /// away was dropped on purpose, and is none of them.
    pub(super) fn left_on_no_branch(&self) -> Vec<Oid> {
        let log = self.within.tail(&self.git.join("logs/HEAD"), LOG);
        left_on_no_branch(&log.unwrap_or_default())
    }

    /// All refs, and every commit that a log or an operation under way still names.
    pub(super) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.logged.extend(self.log("HEAD"));
        for (oid, name) in packed(&self.packed()).take(NAMES) {
            memory.refs.insert(name.to_owned(), oid);
        }
        let mut whole = true;
        if let Some(refs) = self.within.dir(&self.common.join("refs")) {
            whole &= walk(&refs, NAMES, |path, name| {
                let oid =
                    tail(path, REF).and_then(|text| String::from_utf8(text).ok()?.parse().ok());
                if let Some(oid) = oid {
                    memory.refs.insert(format!("refs/{}", name.display()), oid);
                }
            });
        }
        // All logs share what may be read of one.
        let mut left = LOG;
        if let Some(logs) = self.within.dir(&self.common.join("logs")) {
            whole &= walk(&logs, NAMES, |path, _| {
                let read = tail(path, left).unwrap_or_default();
                left = left.saturating_sub(read.len() as u64);
                memory.logged.extend(entries(&read));
            });
        }
        whole &= left > 0;
        self.under_way(&self.git, &mut memory.logged);
        for dir in self.worktrees() {
            let one = Self {
                git: dir,
                ..self.clone()
            };
            memory.logged.extend(one.head());
            memory
                .logged
                .extend(one.log("HEAD").into_iter().take(NAMES));
            one.under_way(&one.git, &mut memory.logged);
            if memory.logged.len() > NAMES {
                whole = false;
                break;
            }
        }
        let mut seen = HashSet::new();
        memory.logged.retain(|oid| seen.insert(oid.clone()));
        memory.cut = !whole || memory.refs.len() >= NAMES;
        memory
    }

    /// The worktrees that the session made beside its own.
    pub(super) fn worktrees(&self) -> Vec<PathBuf> {
        let dir = self.within.dir(&self.common.join("worktrees"));
        let all = dir.iter().flat_map(|dir| items(dir));
        all.map(|item| item.path()).take(1_000).collect()
    }

    fn under_way(&self, git: &Path, found: &mut Vec<Oid>) {
        for name in UNDER_WAY {
            let text = self.within.tail(&git.join(name), REF).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            found.extend(text.lines().filter_map(|line| line.parse::<Oid>().ok()));
        }
    }
}

/// A name that stays inside the directory.
fn is_ref(name: &str) -> bool {
    name.starts_with("refs/") && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn packed(text: &str) -> impl Iterator<Item = (Oid, &str)> {
    text.lines().filter_map(|line| {
        let (oid, name) = line.split_once(' ')?;
        Some((oid.parse().ok()?, name))
    })
}

/// Git writes the commit itself where `HEAD` was on no branch (`checkout: moving from <commit> to <name>`, by `switch`, too).
fn left_on_no_branch(log: &[u8]) -> Vec<Oid> {
    let log = String::from_utf8_lossy(log);
    let left = |line: &str| {
        let (_, what) = line.split_once("\tcheckout: moving from ")?;
        what.split(' ').next()?.parse().ok()
    };
    log.lines().rev().filter_map(left).collect()
}

/// The second name in each line of a log is where the ref went.
fn entries(log: &[u8]) -> Vec<Oid> {
    let log = String::from_utf8_lossy(log);
    let second = |line: &str| line.split(' ').nth(1)?.parse().ok();
    let mut seen = HashSet::new();
    let all = log.lines().rev().filter_map(second);
    all.filter(|oid: &Oid| oid.as_str() != Oid::NONE && seen.insert(oid.clone()))
        .collect()
}
