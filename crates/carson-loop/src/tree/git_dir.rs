//! Where the repository of a tree is, as text in plain files: no git runs, and nothing is configured by it.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Bytes of a file that says where a repository is.
const POINTER: u64 = 4 * 1024;
/// What stands in a repository while something is under way.
const UNDER_WAY: [&str; 6] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "BISECT_LOG",
];

/// The repository that a directory is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDir {
    /// The top of its work tree.
    pub top: PathBuf,
    /// Its own files: `HEAD`, `index`.
    pub dir: PathBuf,
    /// Those that it shares with other work trees: `info/exclude`.
    pub common: PathBuf,
}

impl GitDir {
    /// The nearest one, from the directory upward.
    #[must_use]
    pub fn of(root: &Path) -> Option<Self> {
        root.ancestors().find_map(Self::at)
    }

    /// That of a work tree with this very top.
    #[must_use]
    pub fn at(top: &Path) -> Option<Self> {
        let git = top.join(".git");
        let found = git.symlink_metadata().ok()?;
        let dir = match found.is_file() {
            true => pointed(top, &git)?,
            false => git,
        };
        // A directory of that name alone is none.
        dir.join("HEAD").symlink_metadata().ok()?;
        let common = text(&dir.join("commondir"));
        let common = common.map_or_else(|| dir.clone(), |common| dir.join(common));
        Some(Self {
            top: top.to_owned(),
            dir,
            common,
        })
    }

    /// Its index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// What is under way in it, by the names of its files: a merge, a rebase.
    #[must_use]
    pub fn under_way(&self) -> BTreeSet<String> {
        let stands = |name: &&str| self.dir.join(name).symlink_metadata().is_ok();
        let all = UNDER_WAY.into_iter().filter(stands);
        all.map(str::to_owned).collect()
    }

    /// Whether its refs are in no files of their own.
    #[must_use]
    pub fn has_reftable(&self) -> bool {
        self.common.join("reftable").is_dir()
    }
}

/// `gitdir: PATH`, as work trees and submodules have it (gitrepository-layout(5)).
fn pointed(top: &Path, file: &Path) -> Option<PathBuf> {
    let said = text(file)?;
    Some(top.join(said.strip_prefix("gitdir: ")?))
}

fn text(file: &Path) -> Option<String> {
    let bytes = read_plain(file, POINTER).ok()??;
    Some(
        String::from_utf8(bytes)
            .ok()?
            .trim_end_matches(['\n', '\r'])
            .to_owned(),
    )
}

/// A regular file of at most so many bytes; `None` for what is anything else, such as a pipe, which
/// would hold us up.
pub(crate) fn read_plain(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = options.read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
