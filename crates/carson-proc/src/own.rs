//! Carson's own programs, such as git: looked for once, where no session may write.
//!
//! A session whose role writes `~/.cargo` could leave a `git` in `~/.cargo/bin`, and Carson would
//! run it outside of every wall. So what sessions may write is no place of a program of ours, and
//! is not on the `PATH` of what we start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use crate::path::candidates;
use crate::sandbox::{ResolveError, Ways, resolve};

/// What this process knows.
struct Known {
    /// Places without links that sessions may write.
    shared: Vec<PathBuf>,
    /// Programs that were found, by name and `PATH`.
    found: BTreeMap<(PathBuf, OsString), PathBuf>,
}

static KNOWN: RwLock<Known> = RwLock::new(Known {
    shared: Vec::new(),
    found: BTreeMap::new(),
});

/// What was found of directories on a `PATH`.
struct Judged {
    /// The places of sessions that this was for.
    shared: Vec<PathBuf>,
    /// Whether one is free of these, by its name on the `PATH`; `/bin` is `/usr/bin` on most systems, and each place is
    /// looked at once.
    by_name: BTreeMap<PathBuf, bool>,
    by_place: BTreeMap<PathBuf, bool>,
}

/// Held while somebody looks: who asks meanwhile has the answer when that is done.
static JUDGED: Mutex<Judged> = Mutex::new(Judged {
    shared: Vec::new(),
    by_name: BTreeMap::new(),
    by_place: BTreeMap::new(),
});

/// Says which places sessions may write; they have no links themselves. Said again whenever the
/// settings are read, in place of what was said before.
pub fn sessions_write(shared: Vec<PathBuf>) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.shared != shared {
        known.found.clear();
        known.shared = shared;
    }
}

/// `PATH` without the places that sessions may write, without directories that have a link into one
/// (what we start looks for its own programs there), and without what is no absolute path.
#[must_use]
pub fn own_path(path: &OsStr) -> OsString {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let shared = known.shared.clone();
    drop(known);
    let mut judged = JUDGED.lock().unwrap_or_else(PoisonError::into_inner);
    if judged.shared != shared {
        *judged = Judged {
            shared: shared.clone(),
            by_name: BTreeMap::new(),
            by_place: BTreeMap::new(),
        };
    }
    let mut ways = Ways::past(&shared);
    let entries = std::env::split_paths(path);
    let own = entries.filter(|dir| dir.is_absolute() && judged.is_own(dir, &mut ways));
    // Entries that were split at colons hold none.
    std::env::join_paths(own).unwrap_or_default()
}

impl Judged {
    fn is_own(&mut self, dir: &Path, ways: &mut Ways<'_>) -> bool {
        if let Some(known) = self.by_name.get(dir) {
            return *known;
        }
        // One that is not there now is asked again.
        let Ok(found) = ways.resolve(dir) else {
            return false;
        };
        let is_own = is_free(&found.real, &self.shared)
            && *self
                .by_place
                .entry(found.real)
                .or_insert_with_key(|real| leads_nowhere_else(real, &self.shared, ways));
        self.by_name.insert(dir.to_owned(), is_own);
        is_own
    }
}

/// Whether no link in a directory, which has none in its own path, leads to where sessions write.
fn leads_nowhere_else(dir: &Path, shared: &[PathBuf], ways: &mut Ways<'_>) -> bool {
    if shared.is_empty() {
        return true;
    }
    let items = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut links = items.filter(|item| item.file_type().is_ok_and(|kind| kind.is_symlink()));
    let mut parents = BTreeMap::new();
    links.all(|link| {
        let Ok(target) = std::fs::read_link(link.path()) else {
            return false;
        };
        // Another one of the same directory, which is looked at itself.
        if target.components().count() == 1 && target != Path::new("..") {
            return true;
        }
        let place = dir.join(&target);
        match where_it_leads(&link.path(), &place, &mut parents, ways) {
            Ok(real) => is_free(&real, shared),
            // A link to nothing is one to something later.
            Err(ResolveError::Io(_)) => is_free(&place, shared),
            Err(_) => false,
        }
    })
}

/// The same as following the link itself, which leads to `place`. Most links of a directory lead into a few others, and
/// where those are is asked once.
fn where_it_leads(
    link: &Path,
    place: &Path,
    parents: &mut BTreeMap<PathBuf, PathBuf>,
    ways: &mut Ways<'_>,
) -> Result<PathBuf, ResolveError> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Ok(ways.resolve(link)?.real);
    };
    let parent = match parents.get(parent) {
        Some(known) => known,
        None => {
            let real = ways.resolve(parent)?.real;
            parents.entry(parent.to_owned()).or_insert(real)
        }
    };
    let real = parent.join(name);
    match real.symlink_metadata()?.is_symlink() {
        true => Ok(ways.resolve(&real)?.real),
        false => Ok(real),
    }
}

/// Whether a place lies in none where sessions write.
fn is_free(real: &Path, shared: &[PathBuf]) -> bool {
    !shared.iter().any(|place| real.starts_with(place))
}

/// The executable file that `program` names, as [`find_on_path`](crate::find_on_path) finds it, in
/// no place that sessions may write.
#[must_use]
pub fn own_program(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let key = (program.to_owned(), path.unwrap_or_default().to_owned());
    let shared = {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.found.get(&key) {
            return Some(found.clone());
        }
        known.shared.clone()
    };
    let found = first(program, path, &shared)?;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.shared == shared {
        known.found.insert(key, found.clone());
    }
    Some(found)
}

fn first(program: &Path, path: Option<&OsStr>, shared: &[PathBuf]) -> Option<PathBuf> {
    candidates(program, path).find(|candidate| is_ours(candidate, shared))
}

/// Whether no session may write there, nor on the way. What does not exist is nobody's.
fn is_ours(path: &Path, shared: &[PathBuf]) -> bool {
    resolve(path, shared).is_ok_and(|found| is_free(&found.real, shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_a_session_planted_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (cargo, own) = (dir.join(".cargo"), dir.join("own/bin"));
        program(&cargo.join("bin/git"));
        program(&own.join("git"));
        // By another name of the place, and by a link in a place of the operator's.
        symlink(&cargo, dir.join("alias")).unwrap();
        std::fs::create_dir(dir.join("links")).unwrap();
        symlink(cargo.join("bin/git"), dir.join("links/git")).unwrap();
        let path = [
            cargo.join("bin"),
            dir.join("alias/bin"),
            dir.join("links"),
            own.clone(),
        ];
        let path = std::env::join_paths(path).unwrap();
        let git = Path::new("git");
        assert_eq!(first(git, Some(&path), &[]), Some(cargo.join("bin/git")));

        let shared = [cargo.clone()];
        let found = first(git, Some(&path), &shared);
        assert_eq!(found, Some(own.join("git")));
        let written = cargo.join("bin/git");
        assert_eq!(first(&written, None, &shared), None, "nor by its path");

        // The same, as the process knows it. No other test of this crate says what it knows.
        sessions_write(shared.to_vec());
        assert_eq!(own_program(git, Some(&path)), found);
        // What git starts must not be found through a link either.
        assert_eq!(own_path(&path), own.into_os_string());
        sessions_write(Vec::new());
        assert_eq!(own_program(git, Some(&path)), Some(written));
    }
}
