//! What a look asks, and what it found.

use std::path::PathBuf;

use carson_core::untrusted::one_line;
use carson_proc::sandbox::Overlay;
use serde::{Deserialize, Serialize};

use super::changed_tests::ChangedTest;
use super::changes::Change;
use super::diff::Shown;
use super::drift::Drift;
use crate::oid::Oid;

/// How much is looked at. What a session left may be made to keep whoever reads it busy, or to fill its
/// memory: then less of it is looked at, so that the rest comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Depth {
    /// Everything.
    Whole,
    /// The branch and `HEAD`.
    Commits,
    /// The files, without a look at the session's repository.
    Files,
}

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Look {
    /// The bench: nothing of a session is read outside it.
    pub bench: PathBuf,
    /// The worktree, as it is seen.
    pub tree: PathBuf,
    /// Its name among those of the repository.
    pub name: String,
    /// What it is put together of, when it stands on layers.
    pub layers: Option<Overlay>,
    /// The firing's own repository.
    pub repository: PathBuf,
    /// Full name of the firing's branch.
    pub branch: String,
    /// The commit that the firing began at.
    pub base: Oid,
    /// The mirror's objects.
    pub objects: PathBuf,
    /// Where else sessions can have worktrees, as they see it, and where that lies now; nothing where they have only the one.
    pub beside: Vec<(PathBuf, PathBuf)>,
    /// Carson's own index of the checkout.
    pub index: PathBuf,
    /// What a setup left in it; no such file where none ran.
    pub residue: PathBuf,
    /// What the remote had then, as packed refs.
    pub refs: PathBuf,
    /// A directory to write in: `work.git` there has the pack afterwards, `outgoing` what a push would
    /// show.
    pub out: PathBuf,
    /// Bytes of that which are written.
    pub outgoing: u64,
    /// Whether the diff is wanted.
    pub show: bool,
    /// How much is looked at.
    pub depth: Depth,
}

/// What was found, as far as it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Whether the worktree is there.
    pub exists: bool,
    /// Where the session's work stands: its branch, or what it committed elsewhere on top of that.
    pub branch: Option<Oid>,
    /// The newest commit of it that is whole.
    pub newest: Option<Oid>,
    /// Commits that it does not have, and the branches that the session left them on.
    pub beside: Vec<(String, Oid)>,
    /// Where `HEAD` stands, when that is whole.
    pub head: Option<Oid>,
    /// The tree of the session's index; `None` without one, and during a conflict.
    pub staged: Option<Oid>,
    /// The tree of the files; `None` when the directory is gone.
    pub files: Option<Oid>,
    /// What of them only ignore rules of the session's own hide.
    pub hidden: Hidden,
    /// Commits that only a repository inside the worktree has, and where that lies.
    pub inner: Vec<(String, Oid)>,
    /// Commits that nothing else here leads to: amended, reset, stashed, on other branches.
    pub remembered: Vec<Oid>,
    /// Why the newest of its commits could not come in: what did is older work.
    pub untaken: Option<String>,
    /// What could not be taken up or come in, and why. The bench must stay then.
    pub trouble: Vec<String>,
    /// Files that are kept under another name, because git refuses theirs.
    pub renamed: Vec<String>,
    /// Files and directories whose rights keep us out.
    pub unreadable: u32,
    /// The packs with everything that came in, without an ending.
    pub packs: Vec<String>,
    /// What the commits bring.
    pub committed: Change,
    /// What lies there beside them.
    pub left: Change,
    /// Bytes of the files that the commits change, each path counted.
    pub spread: u64,
    /// The diff of the commits.
    pub shown: Option<Shown>,
    /// Lock files that the commits forgot.
    pub drift: Vec<Drift>,
    /// Tests that they add or alter, and files that these may need.
    pub tests: Vec<ChangedTest>,
}

/// Files that the base's rules do not ignore, and the session's do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hidden {
    /// The tree of the files with these among them; `None` without any.
    pub tree: Option<Oid>,
    /// Some of them, by their paths.
    pub told: Vec<String>,
    /// How many there are.
    pub files: u64,
    /// How many of these are too much to be kept.
    pub left: u64,
}

/// Hidden files that are told one by one, and letters of the path of each.
const HIDDEN_TOLD: usize = 3;
const PATH_LETTERS: usize = 100;

impl Hidden {
    /// Tells the path of one, where few are told yet.
    pub(super) fn tell(&mut self, path: &[u8]) {
        if self.told.len() < HIDDEN_TOLD {
            let path = String::from_utf8_lossy(path);
            self.told.push(one_line(&path, PATH_LETTERS));
        }
    }
}

/// What the firing's work is made of, in the order of its worth.
pub(super) const PRIMARY: [fn(&mut Found) -> &mut Option<Oid>; 5] = [
    |found| &mut found.files,
    |found| &mut found.staged,
    |found| &mut found.newest,
    |found| &mut found.head,
    |found| &mut found.hidden.tree,
];
