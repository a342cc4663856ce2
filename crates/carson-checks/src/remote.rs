//! The remote of a repository.

use carson_config::Repo;
use carson_git::GitError;

use crate::{Scene, Verdict};

/// Preflight fetches, which it would have to do anyway; `carson doctor` only asks.
pub(crate) async fn reachable(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    let looked = match scene.firing {
        Some(_) => fetched(scene, repo).await,
        None => scene.home.mirror(repo).check_base(&repo.base).await,
    };
    Some(match looked {
        Ok(()) => Verdict::ok(format!("it answers, and has {}", repo.base)),
        Err(error) => Verdict::error(error.to_string()).mend(error.hint()),
    })
}

async fn fetched(scene: &Scene<'_>, repo: &Repo) -> Result<(), GitError> {
    let mirror = scene.home.mirror(repo);
    mirror.refresh().await?;
    mirror.resolve(&repo.base).await.map(drop)
}
