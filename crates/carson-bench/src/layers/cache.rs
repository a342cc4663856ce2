//! Which layers there are, what they take, and which of them may go.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use carson_config::Repo;
use carson_core::RepoName;
use carson_git::{LAYER_BELOW, Layered, remove_tree};
use chrono::{DateTime, Utc};
use serde::Serialize;
use tracing::warn;

use super::error::{LayerError, io};
use crate::private_dir::private_dir;
use carson_home::Home;

/// How the name of a base commit's checkout begins.
pub(super) const BASE: &str = "base-";
/// How the name of what a setup left begins.
pub(super) const SETUP: &str = "setup-";
/// A file in each layer that is made anew when a workspace begins on it.
pub(super) const USED: &str = "used";
/// The ending of the file whose lock is held by who makes a layer.
pub(super) const TURN: &str = "turn";
/// The ending of a layer that is on its way out.
const GONE: &str = "gone";

/// One layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Its repository.
    pub repo: String,
    /// What it is: `base COMMIT` or `setup NAME`.
    pub what: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What its files take on the disk.
    pub bytes: u64,
    /// When a workspace began on it last.
    pub used_at: DateTime<Utc>,
    /// Workspaces that stand on it now.
    pub in_use: usize,
}

/// What pruning did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The layers that went.
    pub removed: Vec<Layer>,
    /// The bytes that the rest take.
    pub left: u64,
    /// Setups that had failed, and are run again at once.
    pub forgotten: usize,
}

/// The layers of one repository.
pub(super) fn of_repo(home: &Home, repo: &RepoName) -> PathBuf {
    home.fleet.layout.layers().join(repo.as_str())
}

/// Where workspaces of a repository are seen: empty directories that things are mounted on.
pub(super) fn seen_at(home: &Home, repo: &Repo) -> Result<PathBuf, LayerError> {
    let dir = home.fleet.layout.workspaces().join(repo.name.as_str());
    for place in ["tree", "home"] {
        let place = dir.join(place);
        if !place.is_dir() {
            private_dir(&place).map_err(|source| io(&place, source))?;
        }
    }
    // What is mounted is found by a path without links.
    dir.canonicalize().map_err(|source| io(&dir, source))
}

/// Keeps the layers of a repository from being removed while this file is open.
pub(super) fn hold(home: &Home, repo: &Repo) -> Result<File, LayerError> {
    let file = lock_file(home, &repo.name)?;
    file.lock_shared()
        .map_err(|source| io(&of_repo(home, &repo.name), source))?;
    Ok(file)
}

fn lock_file(home: &Home, repo: &RepoName) -> Result<File, LayerError> {
    let layers = home.fleet.layout.layers();
    // A link that the operator made leads to a directory of theirs: its rights are theirs, too.
    if !layers.is_dir() {
        private_dir(&layers).map_err(|source| io(&layers, source))?;
    }
    let path = layers.join(format!("{repo}.lock"));
    File::create(&path).map_err(|source| io(&path, source))
}

/// Every layer of this home, the one that was used last first.
#[must_use]
pub fn all(home: &Home) -> Vec<Layer> {
    let used = in_use(home);
    let mut found = Vec::new();
    for repo in dirs(&home.fleet.layout.layers()) {
        for path in dirs(&repo) {
            let Some(what) = what_is(&path) else { continue };
            let stands = used.iter().filter(|one| one.starts_with(&path)).count();
            found.push(Layer {
                repo: name_of(&repo),
                what,
                bytes: bytes_of(&path),
                used_at: used_at(&path),
                in_use: stands,
                path,
            });
        }
    }
    found.sort_by_key(|layer| std::cmp::Reverse(layer.used_at));
    found
}

/// What the files of these take on the disk.
#[must_use]
pub fn bytes_taken(layers: &[Layer]) -> u64 {
    layers.iter().map(|layer| layer.bytes).sum()
}

/// Removes layers that nothing stands on, the one that was used longest ago first, until all take no more
/// than `most` bytes. Those of a repository in which a workspace begins just now stay.
pub async fn prune(home: &Home, most: u64) -> Pruned {
    sweep(home).await;
    let mut layers = all(home);
    let mut left = bytes_taken(&layers);
    let mut removed = Vec::new();
    while left > most {
        let below = below_others(home);
        let may_go = |layer: &Layer| layer.in_use == 0 && !below.contains(&layer.path);
        let Some(at) = layers.iter().rposition(may_go) else {
            break;
        };
        let layer = layers.remove(at);
        if remove(home, &layer).await {
            left -= layer.bytes;
            removed.push(layer);
        }
    }
    Pruned {
        removed,
        left,
        forgotten: 0,
    }
}

/// Takes a layer out of use, then removes it.
async fn remove(home: &Home, layer: &Layer) -> bool {
    let Ok(repo) = layer.repo.parse::<RepoName>() else {
        return false;
    };
    let gone = layer.path.with_extension(GONE);
    {
        let Ok(lock) = lock_file(home, &repo) else {
            return false;
        };
        // Who begins holds it, and is asked again what it stands on once it let go.
        let stood_on = |one: &PathBuf| one.starts_with(&layer.path);
        if lock.try_lock().is_err()
            || in_use(home).iter().any(stood_on)
            || below_others(home).contains(&layer.path)
        {
            return false;
        }
        if fs::rename(&layer.path, &gone).is_err() {
            return false;
        }
    }
    gone_for_good(home, &gone).await;
    true
}

/// Removes what a killed process left: half of a layer, or one that was on its way out.
async fn sweep(home: &Home) {
    for repo in dirs(&home.fleet.layout.layers()) {
        for path in dirs(&repo) {
            match path.extension().and_then(|ending| ending.to_str()) {
                Some(GONE) => gone_for_good(home, &path).await,
                Some("half") => {
                    // While somebody makes it, the turn is theirs.
                    let turn = free_turn(&path);
                    if turn.is_some() || !is_young(&path) {
                        gone_for_good(home, &path).await;
                    }
                    if turn.is_some() && name_of(&path).starts_with(BASE) {
                        let _ = fs::remove_file(path.with_extension(TURN));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether somebody makes a setup's layer for this repository.
pub(super) fn is_set_up(home: &Home, repo: &RepoName) -> bool {
    let layers = home.fleet.layout.layers().join(repo.as_str());
    dirs(&layers).iter().any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(SETUP) && name.ends_with(".half") && free_turn(path).is_none()
    })
}

/// The turn at what is made here, where somebody has had it and nobody has it now: whoever made it is gone.
fn free_turn(half: &Path) -> Option<File> {
    let turn = File::open(half.with_extension(TURN)).ok()?;
    turn.try_lock().ok().map(|()| turn)
}

pub(super) async fn gone_for_good(home: &Home, path: &Path) {
    let near = home.fleet.layout.mirrors().join("layers.git");
    if let Err(error) = remove_tree(&home.inspector, &near, path).await {
        warn!(path = %path.display(), %error, "a layer that is not needed any more stays");
    }
}

fn is_young(path: &Path) -> bool {
    let changed = path.metadata().and_then(|found| found.modified()).ok();
    let age = changed.and_then(|changed| changed.elapsed().ok());
    age.is_none_or(|age| age < std::time::Duration::from_secs(3600))
}

/// Layers that other layers stand on.
fn below_others(home: &Home) -> BTreeSet<PathBuf> {
    let mut below = BTreeSet::new();
    for layer in dirs(&home.fleet.layout.layers())
        .iter()
        .flat_map(|repo| dirs(repo))
    {
        let listed = fs::read(layer.join(LAYER_BELOW)).unwrap_or_default();
        let trees = serde_json::from_slice::<Vec<PathBuf>>(&listed).unwrap_or_default();
        below.extend(
            trees
                .into_iter()
                .filter_map(|tree| Some(tree.parent()?.to_owned())),
        );
    }
    below
}

/// Every directory that a workspace stands on, once for each workspace.
fn in_use(home: &Home) -> Vec<PathBuf> {
    let mut used = Vec::new();
    for bench in dirs(&home.fleet.layout.benches()) {
        let Ok(text) = fs::read(Layered::note_in(&bench)) else {
            continue;
        };
        let Ok(layered) = serde_json::from_slice::<Layered>(&text) else {
            continue;
        };
        let dirs: BTreeSet<PathBuf> = layered.overlay.lower.into_iter().collect();
        used.extend(dirs);
    }
    used
}

/// What a directory among the layers is; `None` for what is none of ours.
fn what_is(path: &Path) -> Option<String> {
    let name = name_of(path);
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_hexdigit());
    [(BASE, "base"), (SETUP, "setup")]
        .iter()
        .find_map(|(begins, what)| {
            let rest = name.strip_prefix(begins)?;
            // One that was made for a setup says so behind its name.
            let rest = rest.split_once('-').map_or(rest, |(rest, _)| rest);
            let rest = Some(rest).filter(|rest| is_name(rest))?;
            Some(format!("{what} {rest}"))
        })
}

pub(super) fn used_at(path: &Path) -> DateTime<Utc> {
    let used = path.join(USED).metadata().and_then(|used| used.modified());
    used.unwrap_or(SystemTime::UNIX_EPOCH).into()
}

/// As it was counted when the layer was made.
fn bytes_of(path: &Path) -> u64 {
    let text = fs::read_to_string(path.join(carson_git::LAYER_BYTES));
    text.ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(super) fn dirs(path: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(path).into_iter().flatten().flatten();
    let is_dir = |item: &fs::DirEntry| item.file_type().is_ok_and(|kind| kind.is_dir());
    items.filter(is_dir).map(|item| item.path()).collect()
}
