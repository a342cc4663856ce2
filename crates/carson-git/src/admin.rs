//! Git's own directory for a worktree: `HEAD`, index and log of where `HEAD` was.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tracing::{info, warn};

use crate::error::{GitError, io};
use crate::index::Index;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::worktree::remove_tree;

/// At most this many abandoned commits become parents of the one that keeps them.
const KEPT_TIPS: usize = 200;

/// One directory below `worktrees/` of a mirror. It may be damaged or gone.
#[derive(Clone, Debug)]
pub(crate) struct Admin(PathBuf);

impl Admin {
    /// The one of a worktree. Git names it after the last part of the path, unless that was taken;
    /// the `gitdir` file inside decides.
    pub(crate) fn of(mirror: &Mirror, worktree: &Path) -> Self {
        let dir = mirror.path().join("worktrees");
        let named = Self(dir.join(worktree.file_name().unwrap_or_default()));
        if named.is_for(worktree) {
            return named;
        }
        let all = fs::read_dir(&dir).into_iter().flatten().flatten();
        let found = all
            .map(|item| Self(item.path()))
            .find(|admin| admin.is_for(worktree));
        found.unwrap_or(named)
    }

    fn is_for(&self, worktree: &Path) -> bool {
        let same = |one: &Path, other: &Path| one == other || real(one) == real(other);
        self.worktree().is_some_and(|path| same(&path, worktree))
    }

    /// Where the worktree is, as git knows it.
    fn worktree(&self) -> Option<PathBuf> {
        let path = fs::read_to_string(self.0.join("gitdir")).ok()?;
        Some(Path::new(path.trim_end_matches('\n')).parent()?.to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.0.join("index")
    }

    pub(crate) fn name(&self) -> String {
        self.0
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// The commit of `HEAD`, when the mirror has it.
    pub(crate) async fn head(&self, mirror: &Mirror) -> Result<Option<Oid>, GitError> {
        let Ok(head) = fs::read_to_string(self.0.join("HEAD")) else {
            return Ok(None);
        };
        let head = match head.trim().strip_prefix("ref: ") {
            Some(name) => mirror.ref_target(name.trim()).await?,
            None => head.parse().ok(),
        };
        match head {
            Some(head) if mirror.has_commit(&head).await? => Ok(Some(head)),
            _ => Ok(None),
        }
    }

    /// Every commit that `HEAD` stood on, newest first.
    fn log(&self) -> Vec<Oid> {
        let log = fs::read(self.0.join("logs/HEAD")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let second = |line: &str| line.split(' ').nth(1)?.parse().ok();
        let mut seen = HashSet::new();
        let all = log.lines().rev().filter_map(second);
        all.filter(|oid: &Oid| seen.insert(oid.clone())).collect()
    }

    /// Keeps the commits that only this directory remembers (amended, reset, on a branch that was
    /// deleted) under one ref. The session let go of them on purpose, so they are no part of its
    /// work, but removing the directory must not decide that they are gone.
    pub(crate) async fn keep_abandoned(&self, mirror: &Mirror) -> Result<(), GitError> {
        let mut all = self.log();
        all.extend(self.head(mirror).await?);
        let tips = abandoned(mirror, all).await?;
        let Some(newest) = tips.first() else {
            return Ok(());
        };
        let tree = mirror.tree_of(newest).await?;
        let mut commit = mirror.git("commit-tree").arg(tree.as_str());
        for tip in &tips {
            commit = commit.args(["-p", tip.as_str()]);
        }
        let note = "Commits that the session moved away from.";
        let oid: Oid = parse(&commit.args(["-m", note]).text().await?)?;
        info!(worktree = %self.name(), commits = tips.len(), "abandoned commits are kept");
        self.keep(mirror, &oid).await
    }

    /// Keeps what is staged, when the directory with the files is gone.
    async fn keep_staged(&self, mirror: &Mirror) -> Result<(), GitError> {
        let Some(index) = Index::copy_of(mirror, &self.index())? else {
            return Ok(());
        };
        let Ok(tree) = index.write_tree().await else {
            return Ok(());
        };
        let head = self.head(mirror).await?;
        let mut commit = mirror.git("commit-tree").arg(tree.as_str());
        if let Some(head) = &head {
            if mirror.tree_of(head).await? == tree {
                return Ok(());
            }
            commit = commit.args(["-p", head.as_str()]);
        }
        let note = "What was staged in a worktree that was gone.";
        let oid = parse(&commit.args(["-m", note]).text().await?)?;
        self.keep(mirror, &oid).await
    }

    async fn keep(&self, mirror: &Mirror, oid: &Oid) -> Result<(), GitError> {
        let name = format!("refs/carson/abandoned/{}/{oid}", self.name());
        let held = mirror.ref_target(&name).await?;
        mirror.move_ref(&name, oid, held.as_ref()).await
    }

    /// Removes the directory. Git's own `worktree remove` refuses damaged and locked ones.
    pub(crate) fn remove(&self) -> Result<(), GitError> {
        remove_tree(&self.0)
    }
}

/// Those of the commits that no ref and no other of them has in its history.
async fn abandoned(mirror: &Mirror, all: Vec<Oid>) -> Result<Vec<Oid>, GitError> {
    mirror
        .read(move |repo| {
            let mut lost: Vec<git2::Oid> = Vec::new();
            for oid in all.iter().map(Oid::git2) {
                if lost.len() < KEPT_TIPS && is_lost(repo, oid, &lost)? {
                    lost.push(oid);
                }
            }
            Ok(lost.into_iter().map(Oid::from).collect())
        })
        .await
}

fn is_lost(
    repo: &git2::Repository,
    oid: git2::Oid,
    known: &[git2::Oid],
) -> Result<bool, git2::Error> {
    if repo.find_commit(oid).is_err() {
        return Ok(false);
    }
    let mut walk = repo.revwalk()?;
    walk.push(oid)?;
    walk.hide_glob("refs/*")?;
    for one in known {
        walk.hide(*one)?;
    }
    Ok(walk.next().is_some())
}

/// A path with its links resolved, also when its last part is gone.
fn real(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

pub(crate) fn parse(said: &str) -> Result<Oid, GitError> {
    said.parse().map_err(|detail| GitError::Failed {
        verb: "rev-parse".into(),
        detail,
    })
}

impl Mirror {
    /// Removes git's notes of worktrees whose directories are gone, and keeps the commits and
    /// staged trees that only they remembered. The names of the removed ones. One that is locked
    /// is being made right now.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn prune_worktrees(&self) -> Result<Vec<String>, GitError> {
        let dir = self.path().join("worktrees");
        let items = match fs::read_dir(&dir) {
            Ok(items) => items,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(io(&dir, source)),
        };
        let mut pruned = Vec::new();
        for item in items.flatten() {
            let admin = Admin(item.path());
            let gone = admin
                .worktree()
                .is_none_or(|path| path.symlink_metadata().is_err());
            if !gone || admin.path().join("locked").exists() {
                continue;
            }
            match self.prune_one(&admin).await {
                Ok(()) => pruned.push(admin.name()),
                Err(error) => warn!(worktree = %admin.name(), %error, "git's note of it stays"),
            }
        }
        Ok(pruned)
    }

    async fn prune_one(&self, admin: &Admin) -> Result<(), GitError> {
        admin.keep_abandoned(self).await?;
        admin.keep_staged(self).await?;
        admin.remove()
    }
}
