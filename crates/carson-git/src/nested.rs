//! Commits that exist only in a repository inside the worktree.

use std::path::{Path, PathBuf};

use git2::{ErrorCode, Repository, RepositoryOpenFlags};
use tracing::info;

use crate::error::GitError;
use crate::git::REMOTE;
use crate::oid::Oid;
use crate::worktree::Worktree;

/// A commit of a repository inside the worktree, and a ref there that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    dir: PathBuf,
    name: String,
    oid: Oid,
}

impl Inner {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Worktree {
    /// The commits of these repositories that are not kept in the mirror.
    pub(crate) async fn unsaved(&self, repositories: &[PathBuf]) -> Result<Vec<Inner>, GitError> {
        let (repositories, mirror) = (repositories.to_owned(), self.mirror.path().to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let own =
                |dir: &PathBuf| own_commits(dir, &mirror).map_err(|error| (dir.clone(), error));
            repositories.iter().map(own).collect::<Result<Vec<_>, _>>()
        });
        let found = found.await.map_err(|panic| fail(panic.to_string()))?;
        let found = found.map_err(|(path, source)| GitError::Read { path, source })?;
        let mut unsaved = Vec::new();
        for inner in found.into_iter().flatten() {
            if self
                .mirror
                .ref_target(&self.kept_name(&inner))
                .await?
                .is_none()
            {
                unsaved.push(inner);
            }
        }
        Ok(unsaved)
    }

    /// Named after the commit, so nothing kept is ever written over.
    fn kept_name(&self, inner: &Inner) -> String {
        format!("refs/carson/nested/{}/{}", self.admin().name(), inner.oid)
    }

    /// Fetches commits of inner repositories into the mirror.
    pub(crate) async fn save(&self, unsaved: &[Inner]) -> Result<(), GitError> {
        for inner in unsaved {
            let kept = self.kept_name(inner);
            let fetch = self.mirror.git("fetch").within(REMOTE).args([
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
                "--no-recurse-submodules",
                "--",
            ]);
            // The other side is what a session wrote: nothing but plain files may be asked.
            let fetch = fetch
                .env("GIT_ALLOW_PROTOCOL", "file")
                .env("GIT_NO_LAZY_FETCH", "1");
            fetch
                .arg(&inner.dir)
                .arg(format!("{}:{kept}", inner.name))
                .text()
                .await?;
            let found = self.mirror.ref_target(&kept).await?;
            if found.as_ref() != Some(&inner.oid) {
                return Err(fail(format!(
                    "{} moved while it was saved",
                    inner.dir.display()
                )));
            }
            info!(kept = %kept, from = %inner.dir.display(), "commits of an inner repository kept");
        }
        Ok(())
    }
}

fn fail(detail: String) -> GitError {
    GitError::Failed {
        verb: "fetch".into(),
        detail,
    }
}

/// Opens exactly this directory; `None` when it only looks like a repository.
fn open(dir: &Path) -> Result<Option<Repository>, git2::Error> {
    let none: [&Path; 0] = [];
    match Repository::open_ext(dir, RepositoryOpenFlags::NO_SEARCH, none) {
        Ok(repo) => Ok(Some(repo)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The tree of a repository's `HEAD`.
pub(crate) async fn head_tree(dir: &Path) -> Option<Oid> {
    let dir = dir.to_owned();
    let read = move || {
        Some(
            open(&dir)
                .ok()??
                .head()
                .ok()?
                .peel_to_tree()
                .ok()?
                .id()
                .into(),
        )
    };
    tokio::task::spawn_blocking(read).await.ok()?
}

/// `HEAD`, branches, tags and stash of a repository, less what it had fetched from elsewhere.
fn own_commits(dir: &Path, mirror: &Path) -> Result<Vec<Inner>, git2::Error> {
    let Some(repo) = open(dir)? else {
        return Ok(Vec::new());
    };
    let mut names = vec!["HEAD".to_owned()];
    // In a second worktree of the mirror the branches are the mirror's, and safe there.
    if !is_same(repo.commondir(), mirror) {
        let all = repo.references()?;
        let all = all
            .flatten()
            .filter_map(|one| one.name().ok().map(str::to_owned));
        let own = |name: &String| {
            name.starts_with("refs/heads/")
                || name.starts_with("refs/tags/")
                || name == "refs/stash"
        };
        names.extend(all.filter(own));
    }
    let mut found: Vec<Inner> = Vec::new();
    for name in names {
        let Ok(object) = repo.revparse_single(&name) else {
            continue;
        };
        let Ok(commit) = object.peel_to_commit() else {
            continue;
        };
        let oid = Oid::from(object.id());
        if found.iter().all(|known| known.oid != oid) && is_own(&repo, commit.id())? {
            found.push(Inner {
                dir: dir.to_owned(),
                name,
                oid,
            });
        }
    }
    Ok(found)
}

fn is_own(repo: &Repository, oid: git2::Oid) -> Result<bool, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.push(oid)?;
    walk.hide_glob("refs/remotes/*")?;
    Ok(walk.next().is_some())
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
