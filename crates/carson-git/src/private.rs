//! The repository that a firing has for itself.
//!
//! It lies in the bench, borrows the mirror's objects and knows the remote's branches and tags,
//! but has no remote and no credentials. The worktree is linked to it; whatever a session does to
//! refs, configuration, hooks or objects, it does here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{GitError, io};
use crate::git::Git;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::quarantine::alternate;
use crate::worktree::Worktree;

/// Its name in the bench, beside the worktree.
pub const REPOSITORY: &str = "repo.git";

/// What the session finds; it may change it. What it commits shall outlive a power cut: by default
/// git leaves the objects to the kernel, and then the branch names a file without content. The
/// files of one `git add` are flushed together.
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
        let worktree = Worktree::open(self, path.to_owned(), branch.to_owned(), base.clone());
        if worktree.branch_tip().await?.is_some() {
            return Err(GitError::BranchExists {
                branch: branch.to_owned(),
            });
        }
        worktree.is_nameable().await?;
        let own = worktree.repository();
        let (dir, objects) = (own.clone(), self.path().join("objects"));
        self.read(move |repo| Ok(make(&dir, &objects, &packed_refs(repo)?)))
            .await?
            .map_err(|source| io(&own, source))?;
        let add =
            Git::new(&own, "worktree").args(["add", "--quiet", "--no-track", "-b", branch, "--"]);
        add.arg(path).arg(base.as_str()).text().await?;
        Ok(worktree)
    }
}

impl Worktree {
    /// The firing's own repository.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.path.with_file_name(REPOSITORY)
    }

    /// How many files its checkout has and how much of a disk they take, by the index that git made
    /// of it. For a worktree that nobody works in yet: a session may write what it likes there.
    ///
    /// # Errors
    /// When the index cannot be read; one that is missing has nothing in it.
    pub async fn size(&self) -> Result<(u64, u64), GitError> {
        let name = self.path.file_name().unwrap_or_default();
        let file = self.repository().join("worktrees").join(name).join("index");
        self.mirror
            .read(move |_| {
                let index = git2::Index::open(&file)?;
                let block = |bytes: u32| u64::from(bytes).next_multiple_of(4096);
                let bytes = index.iter().map(|entry| block(entry.file_size)).sum();
                Ok((index.len() as u64, bytes))
            })
            .await
    }

    /// Git keeps a branch in a directory named after its first parts: a branch that has one of
    /// those names is in the way, and that shall be known before there is work.
    async fn is_nameable(&self) -> Result<(), GitError> {
        let name = self.branch_ref();
        for (at, _) in name.match_indices('/') {
            let above = &name[..at];
            if self.mirror.ref_target(above).await?.is_some() {
                let detail = format!("{above} is in the way of {name} in the mirror");
                return Err(GitError::Failed {
                    verb: "worktree add".into(),
                    detail,
                });
            }
        }
        Ok(())
    }
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

fn make(dir: &Path, objects: &Path, refs: &str) -> std::io::Result<()> {
    for name in ["objects/info", "objects/pack", "refs/heads"] {
        fs::create_dir_all(dir.join(name))?;
    }
    fs::write(dir.join("config"), CONFIG)?;
    fs::write(dir.join("packed-refs"), refs)?;
    fs::write(dir.join("objects/info/alternates"), alternate(objects))?;
    // With this file it is a repository.
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")
}
