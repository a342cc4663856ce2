//! Carson's own clones, fetched and packed while nobody works in them.

use std::time::Duration;

use carson_config::Repo;
use carson_home::Home;
use tracing::warn;

use super::error_chain;
use super::runner::{Done, Report};

/// How long packing one mirror may take.
const PACK: Duration = Duration::from_secs(600);

pub(super) async fn tidy(home: Home) -> Done {
    let (mut done, mut failed) = (0, Vec::new());
    for (name, repo) in &home.fleet.repos {
        match tidy_mirror(&home, repo).await {
            Ok(true) => done += 1,
            Ok(false) => {}
            Err(error) => {
                warn!(repo = %name, error, "its mirror could not be tidied");
                failed.push(format!("{name}: {error}"));
            }
        }
    }
    if failed.is_empty() {
        return Ok(Report::counted(
            done,
            "mirror fetched and packed",
            "mirrors fetched and packed",
        ));
    }
    Err(failed.join("; "))
}

/// `false` when somebody works in it, or it was never cloned.
async fn tidy_mirror(home: &Home, repo: &Repo) -> Result<bool, String> {
    let mirror = home.mirror(repo);
    if !mirror.exists() || is_used(home, repo).await? {
        return Ok(false);
    }
    mirror.refresh().await.map_err(error_chain)?;
    pack(home, repo).await
}

/// Packs the mirror, unless somebody works in it.
pub(super) async fn pack(home: &Home, repo: &Repo) -> Result<bool, String> {
    let mirror = home.mirror(repo);
    if !mirror.exists() || is_used(home, repo).await? {
        return Ok(false);
    }
    mirror.pack(PACK).await.map_err(error_chain)?;
    Ok(true)
}

/// Whether a firing runs that works there or may yet choose to, or a bench of it is left.
async fn is_used(home: &Home, repo: &Repo) -> Result<bool, String> {
    let here = Some(&home.fleet.host);
    let live = home.store.live_firings(here).await.map_err(error_chain)?;
    if live
        .iter()
        .any(|row| row.repo.as_ref().is_none_or(|name| *name == repo.name))
    {
        return Ok(true);
    }
    let items = std::fs::read_dir(home.fleet.layout.benches());
    for item in items.into_iter().flatten().flatten() {
        let id = item.file_name().to_str().and_then(|name| name.parse().ok());
        let row = match id {
            Some(id) => home.store.firing(id).await.map_err(error_chain)?,
            None => None,
        };
        // One that no row knows may be of any repository.
        if row.is_none_or(|row| row.repo.as_ref() == Some(&repo.name)) {
            return Ok(true);
        }
    }
    Ok(false)
}
