//! What workspaces are cloned from, where they stand on no layers: the same checkouts of base commits, each a
//! whole one.

use std::path::PathBuf;

use carson_config::{Repo, Role, Sandbox, Workspaces};
use carson_git::{Mirror, Oid};
use tracing::warn;

use super::{base, cache, possible};
use carson_home::Home;

/// A checkout that is held: nobody removes it before this goes.
#[derive(Debug)]
pub struct Source {
    /// Where it lies.
    pub layer: PathBuf,
    _lock: std::fs::File,
}

/// Why a workspace of this role would be no clone.
#[must_use]
pub fn why_no_clone(home: &Home, role: &Role) -> Option<&'static str> {
    if home.fleet.workspaces == Workspaces::Copy {
        return Some("fleet.workspaces says so");
    }
    // Without walls its session could write where the next one is cloned from.
    (role.confinement.sandbox == Sandbox::Off).then_some("the role has no sandbox")
}

/// What a workspace of this role at this commit is cloned from, made where it is missing; `None` where it
/// is a copy. Trouble is told and makes a copy: no firing fails for it.
pub async fn source(
    home: &Home,
    role: &Role,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Option<Source> {
    if why_no_clone(home, role).is_some() || possible::clones(home).await.is_err() {
        return None;
    }
    let held = async {
        let lock = cache::hold(home, repo)?;
        let layer = base::whole(home, repo, mirror, base).await?;
        Ok::<_, super::LayerError>(Source { layer, _lock: lock })
    };
    match held.await {
        Ok(held) => Some(held),
        Err(error) => {
            warn!(repo = %repo.name, %error, "the workspace is a copy: there is nothing to clone");
            None
        }
    }
}
