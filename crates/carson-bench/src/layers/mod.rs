//! What workspaces stand on: layers that are made once and shared.
//!
//! A checkout of each base commit, below every workspace and clean room that begins there
//! (`base.rs`); above it what the repository's setup left there, made once for each state of its lock
//! files (`setup.rs`). A workspace costs what is changed in it, not what the repository holds. All
//! workspaces of a repository are seen at the same path, each in namespaces of its own.
//!
//! Whether this machine can do that for this user is tried, on the disk of the home (`possible.rs`);
//! where it cannot, or a role has no sandbox, a workspace is a copy. Which layers there are, what they
//! take and which of them may go is in `cache.rs`.
//!
//! Nothing that a session wrote becomes a layer below another.

mod base;
mod cache;
mod error;
mod possible;
mod setup;

use std::path::PathBuf;

use carson_config::{Repo, Role, Sandbox, Workspaces};
use carson_git::{LAYER_TREE, Mirror, Oid};
use tracing::warn;

use crate::sandbox_profile::forced;
use crate::stand::Stand;
use carson_home::Home;
use error::io;

pub use cache::{Layer, Pruned, all, bytes_taken, prune};
pub use error::LayerError;
pub use possible::{Possible, Try, possible};
pub use setup::{Missing, decides, forget_failures, last_failure};

/// Layers that are held: nobody removes them before this goes.
#[derive(Debug)]
pub struct Held {
    /// What a workspace stands on.
    pub stand: Stand,
    /// What the repository's setup has not left yet.
    pub missing: Option<Missing>,
    _lock: std::fs::File,
}

/// Why a workspace is a copy.
#[must_use]
pub fn why_copy(home: &Home, role: &Role) -> Option<&'static str> {
    if home.fleet.workspaces == Workspaces::Copy {
        return Some("fleet.workspaces says so");
    }
    if role.confinement.sandbox == Sandbox::Off {
        return Some("the role has no sandbox");
    }
    let force = forced(home).unwrap_or_default();
    (!force.namespaces).then_some("there are no namespaces")
}

/// What a workspace of this role at this commit stands on, made where it is missing; `None` where it is a
/// copy. Trouble with layers is told and makes a copy: no firing fails for them.
pub async fn stand(
    home: &Home,
    role: &Role,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Option<Held> {
    if why_copy(home, role).is_some() {
        return None;
    }
    let marks = match possible(home).await {
        Possible::Yes(marks) => marks,
        Possible::No(_) => return None,
    };
    let held = async {
        let lock = cache::hold(home, repo)?;
        let seen = cache::seen_at(home, repo)?;
        let seen_tree = seen.join("tree");
        let base_layer = base::ready(home, repo, mirror, base, (&seen_tree, marks)).await?;
        let mut held = Held {
            stand: Stand {
                seen_tree,
                seen_home: None,
                trees: base_layer.trees,
                homes: Vec::new(),
                caches: caches(home, repo),
                index: base_layer.index,
                marks,
            },
            missing: None,
            _lock: lock,
        };
        if !repo.setup.lines.is_empty() {
            held.stand.seen_home = Some(seen.join("home"));
            let name = setup::name(home, repo, mirror, base).await?;
            held.missing = Some(Missing::at(&cache::of_repo(home, &repo.name), &name));
            held.complete()?;
        }
        Ok::<_, LayerError>(held)
    };
    match held.await {
        Ok(held) => Some(held),
        Err(error) => {
            warn!(repo = %repo.name, %error, "the workspace is a copy: there is no layer for it");
            None
        }
    }
}

/// The downloads that are there, without links: a mount follows none.
fn caches(home: &Home, repo: &Repo) -> Vec<(&'static str, PathBuf)> {
    let Some(user) = &home.user_home else {
        return Vec::new();
    };
    let places = repo.caches.iter().flat_map(|cache| cache.places());
    let there = |place: &&'static str| Some((*place, user.join(place).canonicalize().ok()?));
    places.filter_map(|place| there(&place)).collect()
}

impl Held {
    /// Puts what the setup left below, if it is there.
    ///
    /// # Errors
    /// What the file system says.
    pub fn complete(&mut self) -> Result<(), LayerError> {
        let Some(missing) = self.missing.take_if(|missing| missing.dir.is_dir()) else {
            return Ok(());
        };
        let used = missing.dir.join(cache::USED);
        std::fs::File::create(&used).map_err(|source| io(&used, source))?;
        self.stand.trees.insert(0, missing.dir.join(LAYER_TREE));
        self.stand.homes.insert(0, missing.dir.join(setup::HOME));
        Ok(())
    }
}
