//! What workspaces stand on: layers that are made once and shared.
//!
//! A checkout of each base commit, below every workspace and clean room that begins there
//! (`base.rs`); above it what the repository's setup left there, made once for each state of its lock
//! files (`setup.rs`), and why that failed last (`failures.rs`). A workspace costs what is changed in it, not what the
//! repository holds. All workspaces of a repository are seen at the same path, each in namespaces of its own.
//!
//! Whether this machine can do that for this user is tried, on the disk of the home (`possible.rs`);
//! where it cannot, a workspace is a clone of the checkout, where the disk lets files share their blocks
//! (`source.rs`), else, or where a role has no sandbox, a copy. Which layers there are, what they
//! take and which of them may go is in `cache.rs`.
//!
//! Nothing that a session wrote becomes a layer below another.

mod base;
mod cache;
mod error;
mod failures;
mod possible;
mod setup;
mod source;

use std::path::{Path, PathBuf};

use carson_config::{Repo, Role, Sandbox, Workspaces};
use carson_git::{LAYER_TREE, Mirror, Oid};
use carson_proc::sandbox::Marks;
use tracing::warn;

use crate::sandbox_profile::forced;
use crate::stand::{Left, Stand};
use carson_home::Home;
use error::io;

pub use cache::{Layer, Pruned, all, bytes_taken, prune};
pub use error::LayerError;
pub use failures::{FailedSetup, failures, forget_failures, log_of_copy, note_copy};
pub use possible::{Possible, Try, clones, possible};
pub(crate) use setup::EXCLUDE;
pub use setup::{Missing, decides, is_running};
pub use source::{Source, source, why_no_clone};

/// Layers that are held: nobody removes them before this goes.
#[derive(Debug)]
pub struct Held {
    /// What a workspace stands on.
    pub stand: Stand,
    /// What the repository's setup has not left yet.
    pub missing: Option<Missing>,
    _lock: std::fs::File,
}

/// Why a workspace does not stand on layers.
#[must_use]
pub fn why_no_layers(home: &Home, role: &Role) -> Option<&'static str> {
    if home.fleet.workspaces != Workspaces::Layers {
        return Some("fleet.workspaces says so");
    }
    if role.confinement.sandbox == Sandbox::Off {
        return Some("the role has no sandbox");
    }
    let force = forced(home).unwrap_or_default();
    (!force.namespaces).then_some("there are no namespaces")
}

/// What a workspace of this role at this commit stands on, made where it is missing; `None` where it
/// stands on nothing. Trouble with layers is told and makes a clone or copy: no firing fails for them.
pub async fn stand(
    home: &Home,
    role: &Role,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Option<Held> {
    if why_no_layers(home, role).is_some() {
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
        let mut setup = None;
        if !repo.setup.lines.is_empty() {
            let name = setup::name(home, role, repo, mirror, base).await?;
            setup = Some(Missing::at(&cache::of_repo(home, &repo.name), &name));
        }
        let mut made = setup.as_ref().and_then(Missing::made);
        if let (Some(shared), Some(known)) = (&setup, &made)
            && known.hides(&shared.dir, mirror, base).await?
        {
            let own = shared.of_base(base);
            made = own.made();
            setup = Some(own);
        }
        let places = (seen_tree.as_path(), marks);
        let base_layer = base::ready(home, repo, mirror, base, places, made.as_ref()).await?;
        let mut held = Held {
            stand: Stand {
                seen_tree,
                seen_home: setup.is_some().then(|| seen.join(carson_git::HOME)),
                trees: base_layer.trees,
                setup: None,
                caches: caches(home, repo),
                index: base_layer.index,
                marks,
                renames: true,
            },
            missing: None,
            _lock: lock,
        };
        match (setup, made) {
            (Some(setup), Some(_)) => held.put_below(&setup.dir)?,
            (setup, _) => held.missing = setup,
        }
        Ok::<_, LayerError>(held)
    };
    match held.await {
        Ok(held) => Some(held),
        Err(error) => {
            warn!(repo = %repo.name, %error, "the workspace stands on nothing: there is no layer for it");
            None
        }
    }
}

/// What the next firing's workspace will be, as far as that can be said without trying: where sessions
/// will see it, or why it stands on no layers.
pub async fn foreseen(home: &Home, role: &Role, repo: &Repo) -> Result<Stand, String> {
    if let Some(why) = why_no_layers(home, role) {
        return Err(why.to_owned());
    }
    if let Some(Possible::No(why)) = possible::known(home).await {
        return Err(why);
    }
    let seen = home.fleet.layout.workspaces().join(repo.name.as_str());
    let has_setup = !repo.setup.lines.is_empty();
    Ok(Stand {
        seen_tree: seen.join("tree"),
        seen_home: has_setup.then(|| seen.join(carson_git::HOME)),
        trees: Vec::new(),
        setup: None,
        caches: Vec::new(),
        index: PathBuf::new(),
        marks: Marks::default(),
        renames: true,
    })
}

/// Why the setup of a repository failed a short time ago as it would be run now by this role, and in how many minutes a
/// firing that gives it so much time runs it again; `None` where it is to be run, or has left something.
pub async fn rests(
    home: &Home,
    (role, repo): (&Role, &Repo),
    mirror: &Mirror,
    base: &Oid,
    within: std::time::Duration,
) -> Option<(String, u64)> {
    if repo.setup.lines.is_empty() || why_no_layers(home, role).is_some() {
        return None;
    }
    let name = setup::name(home, role, repo, mirror, base).await.ok()?;
    let missing = Missing::at(&cache::of_repo(home, &repo.name), &name);
    match missing.made() {
        Some(_) => None,
        None => missing.failed(within),
    }
}

/// The downloads that are there, without links: a mount follows none.
fn caches(home: &Home, repo: &Repo) -> Vec<(&'static str, PathBuf)> {
    let Some(user) = &home.user_home else {
        return Vec::new();
    };
    let places = repo.caches.iter().flat_map(|cache| cache.places());
    let there = |place: &&'static str| Some((*place, user.join(place).canonicalize().ok()?));
    places.filter_map(there).collect()
}

impl Held {
    /// Puts what a setup left below.
    fn put_below(&mut self, dir: &Path) -> Result<(), LayerError> {
        let used = dir.join(cache::USED);
        std::fs::File::create(&used).map_err(|source| io(&used, source))?;
        self.stand.setup = Some(Left {
            tree: dir.join(LAYER_TREE),
            home: dir.join(carson_git::HOME),
        });
        Ok(())
    }
}
