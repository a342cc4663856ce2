//! Commits that exist only in a repository inside the worktree.

use std::path::{Path, PathBuf};

use tracing::info;

use crate::error::GitError;
use crate::foreign::Foreign;
use crate::oid::Oid;
use crate::plain::Within;
use crate::quarantine::Quarantine;
use crate::worktree::Worktree;

/// A commit or tag of a repository inside the worktree.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    dir: PathBuf,
    oid: Oid,
}

impl Inner {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Those that the mirror does not keep, and their objects.
#[derive(Default)]
pub(crate) struct Unsaved {
    pub inner: Vec<Inner>,
    objects: Option<Quarantine>,
}

impl Worktree {
    /// The commits of these repositories that are not kept in the mirror. A repository whose git
    /// directory lies outside the bench does not go with the bench: it is not looked at.
    pub(crate) async fn unsaved(&self, repositories: &[PathBuf]) -> Result<Unsaved, GitError> {
        let bench = self.path.parent().and_then(Within::of);
        let Some(within) = bench.filter(|_| !repositories.is_empty()) else {
            return Ok(Unsaved::default());
        };
        let (mut claims, mut sources) = (Vec::new(), Vec::new());
        for dir in repositories {
            if let Some(inner) = Foreign::at(dir, &within) {
                claims.push(self.claim(dir, &inner)?);
                sources.push(inner);
            }
        }
        claims.retain(|claim| !claim.tips.is_empty());
        if claims.is_empty() {
            return Ok(Unsaved::default());
        }
        let objects = Quarantine::of(&self.mirror, sources).await?;
        let own =
            objects.read(move |repo| Ok(claims.iter().flat_map(|one| one.own(repo)).collect()));
        let own: Vec<Inner> = own.await?;
        let mut unsaved = Unsaved::default();
        for inner in own {
            let kept = self.mirror.ref_target(&self.kept_name(&inner)).await?;
            let known = |one: &Inner| one.oid == inner.oid;
            if kept.is_none() && !unsaved.inner.iter().any(known) {
                unsaved.inner.push(inner);
            }
        }
        unsaved.objects = Some(objects);
        Ok(unsaved)
    }

    /// `HEAD`, branches, tags and stash of a repository.
    fn claim(&self, dir: &Path, inner: &Foreign) -> Result<Claim, GitError> {
        let mut claim = Claim {
            dir: dir.to_owned(),
            tips: inner.head().into_iter().collect(),
            fetched: Vec::new(),
        };
        // Of a second worktree of the firing's own repository only `HEAD` is news.
        let ours = self.own().is_some_and(|own| own.common == inner.common);
        if ours {
            return Ok(claim);
        }
        let memory = inner.memory();
        if memory.cut {
            return Err(fail(format!("{} has too many refs", dir.display())));
        }
        for (name, oid) in memory.refs {
            if name.starts_with("refs/remotes/") {
                claim.fetched.push(oid);
            } else if ["refs/heads/", "refs/tags/", "refs/stash"]
                .iter()
                .any(|own| name.starts_with(own))
            {
                claim.tips.push(oid);
            }
        }
        Ok(claim)
    }

    /// Named after the commit, so nothing kept is ever written over.
    fn kept_name(&self, inner: &Inner) -> String {
        format!("refs/carson/nested/{}/{}", self.name(), inner.oid)
    }

    /// Takes the objects into the mirror, each under its ref.
    pub(crate) async fn save(&self, unsaved: &Unsaved) -> Result<(), GitError> {
        let Some(objects) = &unsaved.objects else {
            return Ok(());
        };
        let mut trouble = Ok(());
        for inner in &unsaved.inner {
            let kept = self.kept_name(inner);
            let wanted = [(inner.oid.clone(), Some(kept.clone()))];
            match objects.release(&wanted, &self.base).await {
                Ok(()) => info!(%kept, from = %inner.dir.display(), "inner commits are kept"),
                Err(error) => trouble = Err(error),
            }
        }
        trouble
    }
}

fn fail(detail: String) -> GitError {
    GitError::Failed {
        verb: "fetch".into(),
        detail,
    }
}

/// What a repository says it has, less what it says it had fetched from elsewhere.
struct Claim {
    dir: PathBuf,
    tips: Vec<Oid>,
    fetched: Vec<Oid>,
}

impl Claim {
    fn own(&self, repo: &git2::Repository) -> Vec<Inner> {
        let own = self
            .tips
            .iter()
            .filter(|oid| self.is_own(repo, oid).unwrap_or(false));
        let inner = |oid: &Oid| Inner {
            dir: self.dir.clone(),
            oid: oid.clone(),
        };
        own.map(inner).collect()
    }

    /// A name without an object is no commit: an error, and not its own.
    fn is_own(&self, repo: &git2::Repository, tip: &Oid) -> Result<bool, git2::Error> {
        let commit = repo.find_object(tip.git2(), None)?.peel_to_commit()?;
        let mut walk = repo.revwalk()?;
        walk.push(commit.id())?;
        for oid in &self.fetched {
            if repo.find_commit(oid.git2()).is_ok() {
                walk.hide(oid.git2())?;
            }
        }
        Ok(walk.next().is_some())
    }
}

/// The tree of a submodule's `HEAD`.
pub(crate) async fn head_tree(worktree: &Worktree, dir: &Path) -> Option<Oid> {
    let within = Within::of(worktree.path.parent()?)?;
    let inner = Foreign::at(dir, &within)?;
    let head = inner.head()?;
    let objects = Quarantine::of(&worktree.mirror, vec![inner]).await.ok()?;
    let read = objects.read(move |repo| Ok(repo.find_commit(head.git2())?.tree_id().into()));
    read.await.ok()
}
