//! Facts that were measured before and may be believed, in the store: by host, with their age.

use carson_config::Repo;
use carson_git::Worktree;
use chrono::TimeDelta;
use tracing::warn;

use crate::Scene;
use carson_home::FiringRef;

/// A checkout is measured again when what is known of it is older.
const STALE: TimeDelta = TimeDelta::days(1);

/// What is known. `carson doctor` looks for itself, and a store that does not answer knows nothing.
pub(crate) async fn known(scene: &Scene<'_>, what: &str) -> Option<String> {
    scene.firing.as_ref()?;
    let host = &scene.home.fleet.host;
    let known = scene.home.store.measured(host, what).await.ok()??;
    Some(known.0)
}

/// Keeps a fact, as far as that is possible: it is measured again without.
pub(crate) async fn keep(scene: &Scene<'_>, what: &str, value: &str) {
    if scene.database.is_some() {
        return;
    }
    let (store, host) = (&scene.home.store, &scene.home.fleet.host);
    let now = scene.home.clock.now();
    if let Err(error) = store.keep_measured(host, what, value, now).await {
        warn!(%error, what, "a measured fact could not be kept");
    }
}

fn of_checkout(repo: &Repo) -> String {
    format!("checkout {}", repo.name)
}

/// Files and bytes of a repository's last checkout on this host.
pub(crate) async fn checkout_of(scene: &Scene<'_>, repo: &Repo) -> Option<(u64, u64)> {
    let (store, host) = (&scene.home.store, &scene.home.fleet.host);
    let known = store.measured(host, &of_checkout(repo)).await.ok()??;
    parse(&known.0)
}

fn parse(known: &str) -> Option<(u64, u64)> {
    let (files, bytes) = known.split_once(' ')?;
    Some((files.parse().ok()?, bytes.parse().ok()?))
}

/// Measures the checkout of a firing that nobody works in yet, unless that was done lately.
pub async fn note_checkout(firing: &FiringRef<'_>, repo: &Repo, worktree: &Worktree) {
    let (home, what) = (firing.home, of_checkout(repo));
    let (store, host, now) = (&home.store, &home.fleet.host, home.clock.now());
    let known = store.measured(host, &what).await;
    if known.is_ok_and(|known| known.is_some_and(|(_, at)| now - at < STALE)) {
        return;
    }
    let kept = match worktree.size().await {
        Ok((files, bytes)) => {
            let value = format!("{files} {bytes}");
            let kept = store.keep_measured(host, &what, &value, now).await;
            kept.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = kept {
        warn!(firing.id = %firing.id, error, "the checkout could not be measured");
    }
}
