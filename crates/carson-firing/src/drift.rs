//! Lock files that work forgot: what settles a firing, and what a setup fails on in its clean room.

use carson_config::Repo;
use carson_core::text::matches;
use carson_git::{Drift, Seen};

/// Lock files that the change forgot, but for those that may be: of each its manifest, and what is wrong with it.
pub(crate) fn of(repo: Option<&Repo>, seen: &Seen) -> Vec<(String, String)> {
    let allowed = repo.map_or(&[][..], |repo| &repo.allow_drift);
    let counts = |one: &&Drift| !allowed.iter().any(|name| matches(name, &one.manifest));
    let all = seen.drift().iter().filter(counts);
    all.map(|one| (one.manifest.clone(), format!("{} {}", one.lock, one.how)))
        .collect()
}
