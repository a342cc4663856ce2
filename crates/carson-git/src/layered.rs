//! Worktrees that stand on layers.
//!
//! A checkout costs what the repository holds. One that many worktrees stand on is made once and never
//! written again ([`Mirror::make_layer`]); a worktree on it has a directory with what differs, and the
//! whole is put together by the kernel wherever somebody looks at it ([`Overlay`]): in a session's
//! sandbox, in the inspector's. Where the whole is seen is the same path for every worktree of a
//! repository, so that what remembers paths (a virtual environment, a build) is right in all of them.
//!
//! Nobody but the kernel reads the directory of a worktree on layers: names that are gone stand there
//! as marks. So a note beside it, on the disk before the directory exists, says what it stands on.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use carson_proc::inspector::Desk;
use carson_proc::sandbox::{Overlay, Upper};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{GitError, io};
use crate::force::NOTHING_WRITTEN;
use crate::git::{self, Git};
use crate::inspect::checkout::Checkout;
use crate::many_files::has_many_files;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::private::{BEGAN, REPOSITORY, repository, sizes};
use crate::racy;
use crate::removal::remove_tree;
use crate::scratch::ScratchDir;
use crate::seen::bounds;
use crate::worktree::Worktree;

/// The checkout in the directory of a layer.
pub const LAYER_TREE: &str = "tree";
/// The index that git made of it.
pub const LAYER_INDEX: &str = "index";
/// How many bytes of a disk it takes, as text.
pub const LAYER_BYTES: &str = "bytes";
/// What it stands on itself, the topmost first, as JSON; a whole checkout has none.
pub const LAYER_BELOW: &str = "below";
/// The note of a worktree that stands on layers, among those of how it began.
const NOTE: &str = "layers.json";

/// What a worktree stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layered {
    /// The tree as sessions see it; what they write goes to the worktree's own directory.
    pub overlay: Overlay,
    /// The index of what is below.
    pub index: PathBuf,
}

impl Layered {
    /// Whether so many files are below that git is to ask which of them were written, and look at no other.
    #[must_use]
    pub fn has_many_files(&self) -> bool {
        let counted = fs::File::open(&self.index).and_then(|index| has_many_files(&index));
        counted.unwrap_or(true)
    }
}

impl Mirror {
    /// Checks a commit out for worktrees to stand on: `dir`, which is not there yet, has the files
    /// ([`LAYER_TREE`]) and their index ([`LAYER_INDEX`]). It appears whole or not at all.
    ///
    /// # Errors
    /// When the checkout fails.
    pub async fn make_layer(&self, dir: &Path, commit: &Oid) -> Result<(), GitError> {
        let half = half_of(dir);
        let _turn = Turn::at(&half)?;
        let made = self.check_out_layer(&half, commit).await;
        appears(&half, dir, made)
    }

    /// The same on top of the layer of another commit, `from`: only what differs is written, above what
    /// `below` is put together of. What is seen at its place is the new commit then.
    ///
    /// # Errors
    /// When what differs cannot be written.
    pub async fn make_layer_above(
        &self,
        dir: &Path,
        commit: &Oid,
        (from, below): (&Oid, &Layered),
    ) -> Result<(), GitError> {
        let half = half_of(dir);
        let _turn = Turn::at(&half)?;
        let made = self.check_out_above(&half, commit, from, below).await;
        if made.is_err() {
            let _ = remove_tree(&self.inspector, self.path(), &half).await;
        }
        made?;
        match fs::rename(&half, dir) {
            // Another process was faster.
            Err(_) if dir.is_dir() => remove_tree(&self.inspector, self.path(), &half).await,
            other => other.map_err(|source| io(dir, source)),
        }
    }

    async fn check_out_above(
        &self,
        dir: &Path,
        commit: &Oid,
        from: &Oid,
        below: &Layered,
    ) -> Result<(), GitError> {
        let (own, tree, work) = (dir.join(REPOSITORY), dir.join(LAYER_TREE), dir.join("work"));
        let objects = self.path().join("objects");
        let upper = Upper {
            dir: tree.clone(),
            work: work.clone(),
        };
        let above = Layered {
            overlay: Overlay {
                upper: Some(upper),
                ..below.overlay.clone()
            },
            index: below.index.clone(),
        };
        let made = fs::create_dir_all(dir).and_then(|()| {
            repository(&own, &objects, "")?;
            link(&own, &tree, "carson/layer", commit, &above)
        });
        made.map_err(|source| io(dir, source))?;
        let scratch = ScratchDir::new(self.path(), "layer")?;
        let seen = &above.overlay.at;
        let desk = Desk {
            own: scratch.path().to_owned(),
            programs: git::program().into_iter().collect(),
            read: vec![objects],
            write: vec![dir.to_owned(), seen.clone()],
            overlays: vec![above.overlay.clone()],
        };
        let question = Checkout {
            repository: own.clone(),
            tree: seen.clone(),
            name: LAYER_TREE.to_owned(),
            branch: String::new(),
            commit: commit.clone(),
            stands_on: Some(from.clone()),
            tests: None,
        };
        let asked = self.inspector.ask(&question, &desk, &bounds()).await;
        asked.map_err(|source| GitError::Unseen {
            path: dir.to_owned(),
            source,
        })?;
        let index = own.join("worktrees").join(LAYER_TREE).join("index");
        fs::rename(&index, dir.join(LAYER_INDEX)).map_err(|source| io(&index, source))?;
        for gone in [&own, &work] {
            remove_tree(&self.inspector, self.path(), gone).await?;
        }
        let done = || -> std::io::Result<()> {
            fs::remove_file(tree.join(".git"))?;
            let below = serde_json::to_vec(&below.overlay.lower)?;
            fs::write(dir.join(LAYER_BELOW), below)?;
            fs::write(dir.join(LAYER_BYTES), bytes_below(&tree)?.to_string())?;
            durable::file_system_of(dir)
        };
        done().map_err(|source| io(dir, source))
    }

    async fn check_out_layer(&self, dir: &Path, commit: &Oid) -> Result<(), GitError> {
        let _ = fs::remove_dir_all(dir);
        let (own, tree) = (dir.join(REPOSITORY), dir.join(LAYER_TREE));
        let made = fs::create_dir_all(dir);
        let made = made.and_then(|()| repository(&own, &self.path().join("objects"), ""));
        made.map_err(|source| io(dir, source))?;
        let add = Git::new(&own, "worktree")
            .with_workers()
            .args(["add", "--quiet", "--detach", "--"]);
        add.arg(&tree).arg(commit.as_str()).text().await?;
        finish_layer(dir).await
    }

    /// Makes a repository beside `path`, and there a worktree of it with a new branch at `base`, whose
    /// files are those that `layered` is put together of. The mirror is only read.
    ///
    /// # Errors
    /// When the branch exists, or something cannot be written.
    pub async fn add_layered(
        &self,
        path: &Path,
        branch: &str,
        base: &Oid,
        layered: &Layered,
    ) -> Result<Worktree, GitError> {
        let (worktree, refs) = self.begin(path, branch, base).await?;
        let note = worktree.began().dir.join(NOTE);
        let noted = serde_json::to_vec(layered).map_err(std::io::Error::other);
        let noted = noted.and_then(|text| {
            fs::create_dir_all(worktree.began().dir)?;
            fs::write(worktree.began().refs, &refs)?;
            let mut file = fs::File::create(&note)?;
            file.write_all(&text)?;
            file.sync_all()
        });
        noted.map_err(|source| io(&note, source))?;
        let bench = path.parent().unwrap_or(path);
        durable::name(&note, bench)?;
        let linked = link(&worktree.repository(), path, branch, base, layered);
        linked.map_err(|source| io(path, source))?;
        Ok(worktree)
    }
}

/// Where a layer is made before it appears.
pub(crate) fn half_of(dir: &Path) -> PathBuf {
    dir.with_extension(format!("{}.half", std::process::id()))
}

/// The lock of who makes a layer, beside it: once it is free, whoever made that is gone.
pub(crate) struct Turn {
    path: PathBuf,
    _lock: fs::File,
}

impl Turn {
    /// Takes it, before there is anything of the layer.
    pub(crate) fn at(half: &Path) -> Result<Self, GitError> {
        let path = half.with_extension("turn");
        let above = half.parent().unwrap_or(half);
        let taken = fs::create_dir_all(above).and_then(|()| {
            let lock = fs::File::create(&path)?;
            // Its name has our number: nobody else holds it.
            let _ = lock.try_lock();
            Ok(lock)
        });
        let lock = taken.map_err(|source| io(&path, source))?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Lets a layer appear that was made; what is left of one that was not goes.
pub(crate) fn appears(half: &Path, dir: &Path, made: Result<(), GitError>) -> Result<(), GitError> {
    if made.is_err() {
        let _ = fs::remove_dir_all(half);
    }
    made?;
    match fs::rename(half, dir) {
        Err(_) if dir.is_dir() => {
            // Another process was faster.
            let _ = fs::remove_dir_all(half);
            Ok(())
        }
        other => other.map_err(|source| io(dir, source)),
    }
}

/// Makes a layer of a worktree in its directory that git has just checked out.
pub(crate) async fn finish_layer(dir: &Path) -> Result<(), GitError> {
    let (own, tree) = (dir.join(REPOSITORY), dir.join(LAYER_TREE));
    let admin = own.join("worktrees").join(LAYER_TREE);
    let index = admin.join("index");
    let done = async {
        racy::settle(&index).await?;
        // From now on git believes every entry, unless it is told that something was written there.
        let believe = Git::new(&admin, "update-index")
            .config("core.fsmonitor", NOTHING_WRITTEN)
            .env("GIT_WORK_TREE", &tree)
            .at(&tree);
        let believed = believe.args(["-q", "--refresh"]).text().await;
        believed.map_err(std::io::Error::other)?;
        let (_, bytes) = sizes(&git2::Index::open(&index).map_err(std::io::Error::other)?);
        fs::write(dir.join(LAYER_BYTES), bytes.to_string())?;
        fs::rename(&index, dir.join(LAYER_INDEX))?;
        fs::remove_file(tree.join(".git"))?;
        fs::remove_dir_all(&own)?;
        // Whoever stands on it believes every byte of it.
        durable::file_system_of(dir)
    };
    let done: std::io::Result<()> = done.await;
    done.map_err(|source| io(dir, source))
}

/// Makes the worktree of a repository as git does (gitrepository-layout(5)), but for its files: these
/// are below.
pub(crate) fn link(
    own: &Path,
    path: &Path,
    branch: &str,
    at: &Oid,
    layered: &Layered,
) -> std::io::Result<()> {
    link_repository(own, path, branch, at, layered)?;
    link_tree(own, path, layered)
}

/// The half of that in the repository.
pub(crate) fn link_repository(
    own: &Path,
    path: &Path,
    branch: &str,
    at: &Oid,
    layered: &Layered,
) -> std::io::Result<()> {
    let admin = admin(own, path, &layered.overlay.at, (branch, at))?;
    fs::copy(&layered.index, admin.join("index")).map(drop)
}

/// The half of that in the worktree's own directory: a repository need not be there yet.
pub(crate) fn link_tree(own: &Path, path: &Path, layered: &Layered) -> std::io::Result<()> {
    if let Some(upper) = &layered.overlay.upper {
        fs::create_dir_all(&upper.work)?;
    }
    fs::create_dir(path)?;
    git_file(path, &admin_of(own, path))
}

/// Where git's own directory for a worktree lies.
fn admin_of(own: &Path, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    own.join("worktrees").join(name)
}

/// Git's own directory for a worktree that is seen at `seen`, on this branch, which is at this commit; without
/// its index.
pub(crate) fn admin(
    own: &Path,
    path: &Path,
    seen: &Path,
    (branch, at): (&str, &Oid),
) -> std::io::Result<PathBuf> {
    let admin = admin_of(own, path);
    fs::create_dir_all(&admin)?;
    fs::write(admin.join("HEAD"), format!("ref: refs/heads/{branch}\n"))?;
    fs::write(admin.join("commondir"), "../..\n")?;
    fs::write(admin.join("gitdir"), line("", &seen.join(".git")))?;
    let name = own.join("refs/heads").join(branch);
    fs::create_dir_all(name.parent().unwrap_or(own))?;
    fs::write(name, format!("{at}\n"))?;
    Ok(admin)
}

/// Tells git in a worktree where that is.
pub(crate) fn git_file(path: &Path, admin: &Path) -> std::io::Result<()> {
    fs::write(path.join(".git"), line("gitdir: ", admin))
}

fn line(before: &str, path: &Path) -> Vec<u8> {
    [
        before.as_bytes(),
        path.as_os_str().as_encoded_bytes(),
        b"\n",
    ]
    .concat()
}

/// What the disk keeps of a file or directory beside its blocks: an entry, and what it knows of it. Small
/// files may have no blocks at all.
const ENTRY: u64 = 512;

/// Bytes that one file or directory takes of the disk.
pub(crate) fn on_disk(found: &fs::Metadata) -> u64 {
    found.blocks() * 512 + ENTRY
}

/// What a checkout takes on the disk.
fn bytes_below(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for item in fs::read_dir(dir)? {
        let item = item?;
        bytes += on_disk(&item.metadata()?);
        if item.file_type()?.is_dir() {
            bytes += bytes_below(&item.path())?;
        }
    }
    Ok(bytes)
}

impl Layered {
    /// Where the note of the workspace in a bench lies.
    #[must_use]
    pub fn note_in(bench: &Path) -> PathBuf {
        bench.join(BEGAN).join(NOTE)
    }
}

impl Worktree {
    /// What it stands on; `None` for one whose directory has all of its files.
    ///
    /// # Errors
    /// When the note cannot be read: then nothing is known of what the directory means.
    pub fn layered(&self) -> Result<Option<Layered>, GitError> {
        let note = self.began().dir.join(NOTE);
        let read = match fs::read(&note) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.and_then(|text| Ok(serde_json::from_slice(&text)?)),
        };
        read.map(Some).map_err(|source| io(&note, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_block_take_their_part_of_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let before = bytes_below(dir.path()).unwrap();
        for number in 0..100 {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        assert_eq!(bytes_below(dir.path()).unwrap() - before, 100 * ENTRY);
    }
}
