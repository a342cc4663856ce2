//! Checkouts of base commits.
//!
//! The first one of a repository is whole. When the base moves, the next one is what differs, above the one
//! that was used last: that costs what changed, in time and on the disk. So many stand above each other, then
//! another one is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use carson_config::Repo;
use carson_git::{LAYER_BELOW, LAYER_INDEX, LAYER_TREE, Layered, Mirror, Oid};
use carson_proc::sandbox::{Marks, Overlay};
use tracing::warn;

use super::cache;
use super::error::{LayerError, io};
use super::setup::Made;
use crate::private_dir::private_dir;
use crate::spread_dir::spread;
use carson_home::Home;

/// So many checkouts stand above each other at most.
const DEEP: usize = 8;

/// The end of the name of one that is there to be cloned.
const WHOLE: &str = "-whole";

/// The checkout of a commit.
pub(super) struct Base {
    /// What it is put together of, the topmost first.
    pub trees: Vec<PathBuf>,
    pub index: PathBuf,
}

/// The checkout of a commit, made where it is missing. `seen` is where trees are seen.
pub(super) async fn ready(
    home: &Home,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
    (seen, marks): (&Path, Marks),
    below: Option<&Made>,
) -> Result<Base, LayerError> {
    let dir = cache::of_repo(home, &repo.name);
    let apart = below.filter(|made| made.of != *base);
    let apart = apart.map_or_else(String::new, |made| format!("-{}", made.name));
    let layer = dir.join(format!("{}{base}{apart}", cache::BASE));
    if layer.is_dir() && !is_whole(&layer) {
        warn!(layer = %layer.display(), "something of a layer is gone: it is made anew");
        cache::gone_for_good(home, &layer).await;
    }
    if !layer.is_dir() {
        if !dir.is_dir() {
            private_dir(&dir).map_err(|source| io(&dir, source))?;
        }
        spread(&dir);
        let from = newest(home, repo, below);
        if !made_above(repo, mirror, (base, &layer), from, (seen, marks)).await {
            mirror.make_layer(&layer, base).await?;
        }
    }
    let used = layer.join(cache::USED);
    File::create(&used).map_err(|source| io(&used, source))?;
    Ok(Base {
        trees: trees(&layer)?,
        index: layer.join(LAYER_INDEX),
    })
}

/// Where a whole checkout of a commit lies, made where it is missing: from the one that was used last.
pub(super) async fn whole(
    home: &Home,
    repo: &Repo,
    mirror: &Mirror,
    base: &Oid,
) -> Result<PathBuf, LayerError> {
    let dir = cache::of_repo(home, &repo.name);
    // One of the same name may stand on others.
    let layer = dir.join(format!("{}{base}{WHOLE}", cache::BASE));
    if layer.is_dir() && !is_whole(&layer) {
        warn!(layer = %layer.display(), "something of a layer is gone: it is made anew");
        cache::gone_for_good(home, &layer).await;
    }
    if !layer.is_dir() {
        if !dir.is_dir() {
            private_dir(&dir).map_err(|source| io(&dir, source))?;
        }
        spread(&dir);
        let made = match newest_whole(&dir) {
            Some((from, below)) => mirror.make_layer_from(&layer, base, (&from, &below)).await,
            None => mirror.make_layer(&layer, base).await,
        };
        if let Err(error) = made {
            warn!(repo = %repo.name, %error, "the base is checked out anew: what differs could not be");
            mirror.make_layer(&layer, base).await?;
        }
    }
    let used = layer.join(cache::USED);
    File::create(&used).map_err(|source| io(&used, source))?;
    Ok(layer)
}

fn newest_whole(dir: &Path) -> Option<(Oid, PathBuf)> {
    let all = cache::dirs(dir).into_iter();
    let whole = all.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_prefix(cache::BASE)?;
        let oid = name.strip_suffix(WHOLE)?.parse::<Oid>().ok()?;
        is_whole(&path).then(|| (cache::used_at(&path), oid, path))
    });
    let (_, oid, path) = whole.max_by_key(|(used, ..)| *used)?;
    Some((oid, path))
}

/// Whether it could be made above another one.
async fn made_above(
    repo: &Repo,
    mirror: &Mirror,
    (base, layer): (&Oid, &Path),
    from: Option<(Oid, PathBuf)>,
    (seen, marks): (&Path, Marks),
) -> bool {
    let Some((from, below)) = from else {
        return false;
    };
    let Ok(lower) = trees(&below) else {
        return false;
    };
    if lower.len() >= DEEP {
        return false;
    }
    let below = Layered {
        overlay: Overlay {
            at: seen.to_owned(),
            lower,
            upper: None,
            marks,
            renames: false,
        },
        index: below.join(LAYER_INDEX),
    };
    let made = mirror.make_layer_above(layer, base, (&from, &below)).await;
    if let Err(error) = &made {
        warn!(repo = %repo.name, %error, "the base is checked out anew: what differs could not be");
    }
    made.is_ok()
}

/// The checkout that was used last, of those that may lie below what a setup left.
fn newest(home: &Home, repo: &Repo, below: Option<&Made>) -> Option<(Oid, PathBuf)> {
    let all = cache::dirs(&cache::of_repo(home, &repo.name)).into_iter();
    let bases = all.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_prefix(cache::BASE)?;
        let (oid, apart) = name.split_once('-').unwrap_or((name, ""));
        let oid = oid.parse::<Oid>().ok()?;
        let fits = match below {
            None => apart.is_empty(),
            Some(made) if apart.is_empty() => oid == made.of,
            Some(made) => apart == made.name,
        };
        fits.then(|| (cache::used_at(&path), oid, path))
    });
    let (_, oid, path) = bases.max_by_key(|(used, ..)| *used)?;
    Some((oid, path))
}

/// Whether nobody has taken a part of it away.
fn is_whole(layer: &Path) -> bool {
    let trees = trees(layer).unwrap_or_default();
    let is_there = !trees.is_empty() && trees.iter().all(|tree| tree.is_dir());
    is_there && layer.join(LAYER_INDEX).is_file()
}

/// What a checkout is put together of, the topmost first.
fn trees(layer: &Path) -> Result<Vec<PathBuf>, LayerError> {
    let file = layer.join(LAYER_BELOW);
    let below = match fs::read(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.and_then(|text| Ok(serde_json::from_slice::<Vec<PathBuf>>(&text)?)),
    };
    let below = below.map_err(|source| io(&file, source))?;
    Ok(std::iter::once(layer.join(LAYER_TREE))
        .chain(below)
        .collect())
}
