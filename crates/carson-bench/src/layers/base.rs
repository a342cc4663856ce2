//! Checkouts of base commits.

use std::fs::File;
use std::path::PathBuf;

use carson_config::Repo;
use carson_git::{Mirror, Oid};

use super::cache;
use super::error::{LayerError, io};
use crate::private_dir::private_dir;
use crate::spread_dir::spread;
use carson_home::Home;

/// The checkout of a commit, made where it is missing.
pub(super) async fn ready(
    home: &Home,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Result<PathBuf, LayerError> {
    let dir = cache::of_repo(home, &repo.name);
    let layer = dir.join(format!("{}{base}", cache::BASE));
    if !layer.is_dir() {
        private_dir(&dir).map_err(|source| io(&dir, source))?;
        spread(&dir);
        mirror.make_layer(&layer, base).await?;
    }
    let used = layer.join(cache::USED);
    File::create(&used).map_err(|source| io(&used, source))?;
    Ok(layer)
}
