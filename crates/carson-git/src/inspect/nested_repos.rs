//! Commits that exist only in a repository inside the worktree.

use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

use super::bounds::{COMMITS, TOGETHER};
use super::git_dir::GitDir;
use super::objects::Objects;
use super::safe_read::Within;
use crate::newest::newest;

/// What a repository inside says it has of its own.
struct Claim {
    dir: PathBuf,
    tips: Vec<Oid>,
    /// What only its logs remember, and more.
    logged: Vec<Oid>,
    /// What it says it fetched from elsewhere.
    fetched: Vec<Oid>,
}

/// A repository's directory and one of its commits.
pub(super) type Own = (PathBuf, Oid);

/// Repositories that are read together, and the commits of theirs that nobody else has.
pub(super) struct Batch {
    pub objects: Objects,
    pub own: Vec<Own>,
    /// What could not be read, and why.
    pub trouble: Vec<String>,
}

/// Reads the repositories in batches: each of them makes the lookup of every object longer.
/// `common` is the firing's own repository; of a second worktree of that only `HEAD` is news.
pub(super) fn batches<'b>(
    dirs: &'b [PathBuf],
    within: &'b Within,
    common: Option<&'b Path>,
    (out, mirror): (&'b Path, &'b Path),
) -> impl Iterator<Item = Result<Batch, String>> + 'b {
    dirs.chunks(TOGETHER).map(move |some| {
        let mut batch = Batch {
            objects: Objects::open(out, mirror)?,
            own: Vec::new(),
            trouble: Vec::new(),
        };
        let mut claims = Vec::new();
        for dir in some {
            // One whose git directory lies outside the bench does not go with the bench.
            let found = GitDir::at(dir, within).or_else(|| GitDir::bare(dir, within));
            let Some(found) = found else { continue };
            match Claim::of(dir, &found, common) {
                Ok(claim) if !claim.tips.is_empty() || !claim.logged.is_empty() => {
                    batch.objects.borrow(&found)?;
                    claims.push(claim);
                }
                Ok(_) => {}
                Err(why) => batch.trouble.push(why),
            }
        }
        let own = |claim: &Claim| claim.own(&batch.objects);
        batch.own = claims.iter().flat_map(own).collect();
        Ok(batch)
    })
}

impl Claim {
    /// `HEAD`, branches, tags, stash and logs of a repository.
    fn of(dir: &Path, found: &GitDir, common: Option<&Path>) -> Result<Self, String> {
        let mut claim = Self {
            dir: dir.to_owned(),
            tips: found.head().iter().map(crate::Oid::git2).collect(),
            logged: Vec::new(),
            fetched: Vec::new(),
        };
        if common.is_some_and(|common| common == found.common) {
            return Ok(claim);
        }
        let memory = found.memory();
        if memory.cut {
            return Err(format!("{} has too many refs", dir.display()));
        }
        claim.logged = memory.logged.iter().map(crate::Oid::git2).collect();
        for (name, oid) in memory.refs {
            if name.starts_with("refs/remotes/") {
                claim.fetched.push(oid.git2());
            } else if ["refs/heads/", "refs/tags/", "refs/stash"]
                .iter()
                .any(|own| name.starts_with(own))
            {
                claim.tips.push(oid.git2());
            }
        }
        Ok(claim)
    }

    fn own(&self, objects: &Objects) -> Vec<Own> {
        let is_own = |tip: &Oid| self.commit(objects, *tip).ok().flatten();
        let of_tips = self.tips.iter().filter_map(is_own);
        // A log that names what is not there remembers nothing.
        let let_go = self.let_go(&objects.repo).unwrap_or_default();
        let mut own: Vec<Own> = of_tips
            .chain(let_go)
            .map(|oid| (self.dir.clone(), oid))
            .collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    /// The newest commits that only a log remembers.
    fn let_go(&self, repo: &Repository) -> Result<Vec<Oid>, git2::Error> {
        let mut walk = repo.revwalk()?;
        let is_there = |oid: &&Oid| repo.find_commit(**oid).is_ok();
        for oid in self.logged.iter().filter(is_there) {
            walk.push(*oid)?;
        }
        for oid in self.tips.iter().chain(&self.fetched) {
            if let Ok(commit) = repo
                .find_object(*oid, None)
                .and_then(|it| it.peel_to_commit())
            {
                walk.hide(commit.id())?;
            }
        }
        newest(repo, walk, COMMITS)
    }

    /// The commit or tag itself, when what was fetched does not lead to it. A name without an object
    /// is no commit: an error, and not its own.
    fn commit(&self, objects: &Objects, tip: Oid) -> Result<Option<Oid>, git2::Error> {
        let repo = &objects.repo;
        let commit = repo.find_object(tip, None)?.peel_to_commit()?;
        let mut walk = repo.revwalk()?;
        walk.push(commit.id())?;
        for oid in &self.fetched {
            if repo.find_commit(*oid).is_ok() {
                walk.hide(*oid)?;
            }
        }
        Ok(walk.next().is_some().then(|| commit.id()))
    }
}
