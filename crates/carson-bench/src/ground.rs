//! Where a grant leads, and whether it may lead there.
//!
//! A grant is judged by where it ends, not by how it is written: a link that the operator made is
//! followed, one that lies where sessions write is not, and none leads into what is closed.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use carson_config::CREDENTIALS;
use carson_proc::sandbox::{ResolveError, Ways};
use tracing::warn;

use carson_home::Home;

/// How long an answer holds: a firing asks for each of its sessions and checks.
const HOLDS: Duration = Duration::from_secs(10);

/// What of a home is looked at.
#[derive(PartialEq, Eq)]
struct Asked {
    root: PathBuf,
    user: Option<PathBuf>,
    written: Vec<PathBuf>,
}

/// What was found last, and when.
static LAST: Mutex<Option<(Instant, Asked, Ground)>> = Mutex::new(None);

/// What is known of a home when grants are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Places without links that sessions of any role may write.
    shared: Vec<PathBuf>,
    /// Places of credentials in the operator's home.
    credentials: BTreeSet<PathBuf>,
    /// Other places into which no link leads.
    closed: BTreeSet<PathBuf>,
    /// Places that nothing that is granted holds.
    homes: BTreeSet<PathBuf>,
}

impl Ground {
    /// That of a home, by its settings.
    pub fn of(home: &Home) -> Self {
        let roles = home.fleet.roles.values();
        let written = roles.flat_map(|role| role.confinement.write.iter().cloned());
        let asked = Asked {
            root: home.fleet.layout.root.clone(),
            user: home.user_home.clone(),
            written: { written }.chain([home.fleet.layout.benches()]).collect(),
        };
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, before, found)) = last.as_ref()
            && when.elapsed() < HOLDS
            && *before == asked
        {
            return found.clone();
        }
        let found = Self::found(&asked);
        *last = Some((Instant::now(), asked, found.clone()));
        found
    }

    fn found(asked: &Asked) -> Self {
        let root = asked.root.as_path();
        let user = asked.user.as_deref();
        let mut ways = Ways::past(&[]);
        let homes = both(user.into_iter().chain([root]), &mut ways);
        let credentials = user.map(|user| credentials_of(user, &mut ways));
        let shared = written(&asked.written, &mut ways).into_iter();
        // What would hold a whole home is no grant, and must not spoil the operator's own links.
        let shared = shared.filter(|place| !homes.iter().any(|home| home.starts_with(place)));
        Self {
            shared: shared.collect(),
            credentials: credentials.unwrap_or_default(),
            closed: both([root].into_iter(), &mut ways),
            homes,
        }
    }

    /// Places without links that sessions of any role may write.
    pub fn shared(&self) -> &[PathBuf] {
        &self.shared
    }

    /// Places of credentials in the operator's home, by each of their names.
    pub fn credentials(&self) -> &BTreeSet<PathBuf> {
        &self.credentials
    }

    /// Where a path leads; `None` when it is nowhere, or where it must not lead. That is logged.
    pub fn lead(&self, path: &Path) -> Option<PathBuf> {
        self.lead_by(&mut Ways::past(&self.shared), path)
    }

    /// The same for one of many that are asked for at one time, by the ways past the shared places.
    pub fn lead_by(&self, ways: &mut Ways<'_>, path: &Path) -> Option<PathBuf> {
        let why = match ways.resolve(path) {
            Err(ResolveError::Io(_)) => return None,
            Err(error) => error.to_string(),
            Ok(found) => match self.strays(path, &found.real) {
                None => return Some(found.real),
                Some(place) => format!("it leads into {}", place.display()),
            },
        };
        warn!(path = %path.display(), why, "this is not granted to a session");
        None
    }

    /// What a path leads into without saying so.
    fn strays<'a>(&'a self, path: &Path, real: &'a Path) -> Option<&'a Path> {
        let is_closed =
            |above: &&Path| self.credentials.contains(*above) || self.closed.contains(*above);
        // What is written so is meant so, by whichever name of the place.
        let meant = path.ancestors().any(|above| is_closed(&above));
        let inside = real.ancestors().find(is_closed).filter(|_| !meant);
        let holds = |home: &&PathBuf| home.starts_with(real);
        inside.or_else(|| self.homes.iter().find(holds).map(PathBuf::as_path))
    }
}

/// The places of credentials below an operator's home, by each of their names. Most of them are in no home: what
/// is not there leads nowhere.
fn credentials_of(user: &Path, ways: &mut Ways<'_>) -> BTreeSet<PathBuf> {
    let there: Option<HashSet<OsString>> = fs::read_dir(user)
        .and_then(|names| names.map(|item| Ok(item?.file_name())).collect())
        .ok();
    let may_lead = |place: &Path| match (&there, place.iter().next()) {
        (Some(there), Some(first)) => there.contains(first),
        _ => true,
    };
    let (there, gone): (Vec<&Path>, Vec<&Path>) = CREDENTIALS
        .iter()
        .map(Path::new)
        .partition(|place| may_lead(place));
    let there: Vec<PathBuf> = there.into_iter().map(|place| user.join(place)).collect();
    let mut all = both(there.iter().map(PathBuf::as_path), ways);
    all.extend(gone.into_iter().map(|place| user.join(place)));
    all
}

/// Each path as it is written, and where it leads.
fn both<'a>(paths: impl Iterator<Item = &'a Path>, ways: &mut Ways<'_>) -> BTreeSet<PathBuf> {
    let mut both = BTreeSet::new();
    for path in paths {
        both.extend(ways.resolve(path).map(|found| found.real));
        both.insert(path.to_owned());
    }
    both
}

/// Everything that sessions may write, wherever it leads.
fn written(places: &[PathBuf], ways: &mut Ways<'_>) -> BTreeSet<PathBuf> {
    let absolute = places.iter().filter(|path| path.is_absolute());
    absolute
        .filter_map(|path| Some(ways.resolve(path).ok()?.real))
        .collect()
}

/// Tells this process which places sessions may write, so that none of Carson's own programs
/// comes from there. Called when the settings are read, and again when they have changed.
pub fn learn_places(home: &Home) {
    carson_proc::sessions_write(Ground::of(home).shared);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_grant_is_judged_by_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let home = dir.join("ann");
        for place in ["ann/.ssh", "ann/cache", "ann/docs", "data", "elsewhere"] {
            fs::create_dir_all(dir.join(place)).unwrap();
        }
        let ground = Ground {
            shared: vec![home.join("cache")],
            credentials: [home.join(".ssh")].into(),
            closed: [home.join("fleet"), dir.join("data")].into(),
            homes: [home.clone()].into(),
        };
        for (link, target) in [
            ("cache/out", "docs"),
            ("keys", ".ssh"),
            ("all", ".."),
            ("store", "../elsewhere"),
            ("fleet", "../data"),
            ("into", "../data"),
        ] {
            symlink(home.join(target), home.join(link)).unwrap();
        }
        let lead = |path: &str| ground.lead(&home.join(path));
        assert_eq!(lead("cache"), Some(home.join("cache")));
        assert_eq!(lead("store"), Some(dir.join("elsewhere")), "their own");
        assert_eq!(lead("fleet"), Some(dir.join("data")), "by another name");
        assert_eq!(lead(".ssh"), Some(home.join(".ssh")), "as it is written");
        for refused in ["cache/out", "keys", "into", "all", "all/ann", "none"] {
            assert_eq!(lead(refused), None, "{refused}");
        }
    }
}
