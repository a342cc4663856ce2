//! The repository that a firing has for itself, and the clean rooms beside it.
//!
//! It lies in the bench, borrows the mirror's objects and knows the remote's branches and tags, but
//! has no remote and no credentials. The worktree is linked to it; whatever a session does to refs,
//! configuration, hooks or objects, it does here.
//!
//! Carson's own notes of how it began lie beside it, where no session writes: the index that git
//! made of the checkout, by which a later look knows what did not change, what a setup left in a copy, and
//! what the remote had.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{GitError, io};
use crate::git::Git;
use crate::inspect::residue::RESIDUE;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::racy;
use crate::skeleton::skeleton;
use crate::worktree::Worktree;

/// Its name in the bench, beside the worktree.
pub const REPOSITORY: &str = "repo.git";

/// Where a bench has its sessions' temporary files.
pub const TEMPORARY: &str = "tmp";

/// Where it has their home, and the last name of that as they see it.
pub const HOME: &str = "home";

/// The directory of Carson's own notes in a bench.
pub(crate) const BEGAN: &str = "began";

/// What the session finds; it may change it. What it commits shall outlive a power cut: by default
/// git leaves the objects to the kernel, and then the branch names a file without content. The
/// files of one `git add` are flushed together. `index.skipHash` is not for it: a split index has its name by the
/// hash, and without one git 2.47 commits an empty tree.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\
                      \tlogAllRefUpdates = true\n\tfsync = committed,reference\n\
                      \tfsyncMethod = batch\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

impl Mirror {
    /// Makes a repository beside `path`, and there a worktree of it with a new branch at `base`.
    /// The mirror is only read.
    ///
    /// # Errors
    /// When the branch exists or the checkout fails.
    pub async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        base: &Oid,
    ) -> Result<Worktree, GitError> {
        let (worktree, refs) = self.begin(path, branch, base).await?;
        let own = worktree.repository();
        let add = Git::new(&own, "worktree").with_workers();
        let add = add.args(["add", "--quiet", "--no-track", "-b", branch, "--"]);
        add.arg(path).arg(base.as_str()).text().await?;
        let index = worktree.git_dir().join("index");
        let settled = racy::settle(&index).await;
        settled.map_err(|source| io(&index, source))?;
        let began = worktree.began();
        let noted = fs::create_dir_all(&began.dir)
            .and_then(|()| fs::write(&began.refs, &refs))
            .and_then(|()| fs::copy(&index, &began.index));
        noted.map_err(|source| io(&began.dir, source))?;
        Ok(worktree)
    }

    /// The repository beside `path`, for a worktree that does not exist yet; what the remote has.
    pub(crate) async fn begin(
        &self,
        path: &Path,
        branch: &str,
        base: &Oid,
    ) -> Result<(Worktree, String), GitError> {
        let worktree = Worktree::open(self, path.to_owned(), branch.to_owned(), base.clone());
        self.kept().make()?;
        if worktree.branch_tip().await?.is_some() {
            return Err(GitError::BranchExists {
                branch: branch.to_owned(),
            });
        }
        worktree.is_nameable().await?;
        let own = worktree.repository();
        let refs = self.bare.read(packed_refs).await?;
        repository(&own, &self.path().join("objects"), &refs).map_err(|error| io(&own, error))?;
        Ok((worktree, refs))
    }
}

/// Where Carson's notes of a worktree's beginning lie.
pub(crate) struct Began {
    pub dir: PathBuf,
    pub index: PathBuf,
    pub residue: PathBuf,
    pub refs: PathBuf,
}

impl Worktree {
    /// The firing's own repository.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.path.with_file_name(REPOSITORY)
    }

    /// Git's own directory for the worktree, in that repository.
    pub(crate) fn git_dir(&self) -> PathBuf {
        self.repository().join("worktrees").join(self.name())
    }

    pub(crate) fn began(&self) -> Began {
        let dir = self.path.with_file_name(BEGAN);
        Began {
            index: dir.join("index"),
            residue: dir.join(RESIDUE),
            refs: dir.join("packed-refs"),
            dir,
        }
    }

    /// How many files its checkout has and how much of a disk they take, by the index that git made
    /// of it.
    ///
    /// # Errors
    /// When the index cannot be read; one that is missing has nothing in it.
    pub async fn size(&self) -> Result<(u64, u64), GitError> {
        let layered = self.layered()?;
        let file = layered.map_or_else(|| self.began().index, |on| on.index);
        self.mirror
            .bare
            .read(move |_| Ok(sizes(&git2::Index::open(&file)?)))
            .await
    }

    /// Git keeps a branch in a directory named after its first parts: a branch that has one of
    /// those names is in the way, and that shall be known before there is work.
    async fn is_nameable(&self) -> Result<(), GitError> {
        let name = self.branch_ref();
        for (at, _) in name.match_indices('/') {
            let above = &name[..at];
            if self.kept.bare.ref_target(above).await?.is_some() {
                let detail = format!("{above} is in the way of {name} among what is kept");
                return Err(GitError::Failed {
                    verb: "worktree add".into(),
                    detail,
                });
            }
        }
        Ok(())
    }
}

/// How many files an index has, and how much of a disk they take.
pub(crate) fn sizes(index: &git2::Index) -> (u64, u64) {
    let block = |bytes: u32| u64::from(bytes).next_multiple_of(4096);
    let bytes = index.iter().map(|entry| block(entry.file_size)).sum();
    (index.len() as u64, bytes)
}

/// The remote's branches and tags, in the form of git's own file.
fn packed_refs(repo: &git2::Repository) -> Result<String, git2::Error> {
    let mut lines = Vec::new();
    for glob in ["refs/remotes/origin/*", "refs/tags/*"] {
        for one in repo.references_glob(glob)? {
            let one = one?;
            if let (Ok(name), Some(oid)) = (one.name(), one.target()) {
                lines.push(format!("{name}\0{oid}"));
            }
        }
    }
    lines.sort_unstable();
    let mut text = String::from("# pack-refs with: sorted \n");
    for line in &lines {
        if let Some((name, oid)) = line.split_once('\0') {
            text.push_str(&format!("{oid} {name}\n"));
        }
    }
    Ok(text)
}

/// Makes a repository for sessions that knows these refs.
pub(crate) fn repository(dir: &Path, objects: &Path, refs: &str) -> std::io::Result<()> {
    skeleton(dir, objects, CONFIG)?;
    fs::write(dir.join("packed-refs"), refs)
}
