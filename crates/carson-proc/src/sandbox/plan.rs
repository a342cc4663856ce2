//! Which mounts make a profile: decided before any is made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::sandbox::overlay::Overlay;
use crate::sandbox::profile::Profile;
use crate::sandbox::resolve::{Resolved, Ways};

/// Where the machine's shared memory lies.
const SHARED_MEMORY: &str = "/dev/shm";

/// What every program may write in, and has for its own.
const SCRATCH: [&str; 2] = [SHARED_MEMORY, "/tmp"];

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The machine's own, to be read.
    Read,
    /// The machine's own, to be written too.
    Write,
    /// Nothing that can be seen.
    Covered,
    /// A small file system of our own, to be written.
    Scratch,
}

/// A new root: what is where, in an order in which it can be built, and the links that lead there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Paths without links, parents first.
    pub places: BTreeMap<PathBuf, Place>,
    /// Links on the way to these, and where they point.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Everything that may be read, without links.
    pub read: Vec<PathBuf>,
    /// Everything that may be written too, without links.
    pub write: Vec<PathBuf>,
    /// Trees that are put together first: what lies beneath one is not there yet.
    pub overlays: Vec<Overlay>,
}

impl Plan {
    /// Looks at the file system as it is now. What does not exist is left out, and so is what a
    /// session may have put a link in the way of. From here on paths have no links, and are opened
    /// without following any.
    pub(super) fn of(profile: &Profile) -> Self {
        let mut plan = Self {
            overlays: profile.overlays.clone(),
            ..Self::default()
        };
        for path in SCRATCH {
            plan.places.insert(path.into(), Place::Scratch);
        }
        let mut ways = Ways::past(&profile.shared);
        for path in &profile.hide {
            plan.put(path, Place::Covered, &mut ways);
        }
        for path in &profile.read {
            let real = plan.put(path, Place::Read, &mut ways);
            plan.read.extend(real);
        }
        for path in &profile.write {
            let real = plan.put(path, Place::Write, &mut ways);
            plan.write.extend(real);
        }
        plan.without_repetition().with_pins()
    }

    /// Where the path leads.
    fn put(&mut self, path: &Path, place: Place, ways: &mut Ways<'_>) -> Option<PathBuf> {
        let found = self.resolve(path, ways)?;
        let real = found.real;
        // These are made anew, or hold nothing but what every program gets; shared memory is an
        // ordinary file system, in which somebody may keep a home or a tree.
        let shared = real.starts_with(SHARED_MEMORY) && real != Path::new(SHARED_MEMORY);
        if real.starts_with("/proc") || (real.starts_with("/dev") && !shared) {
            return Some(real);
        }
        self.links.extend(found.links);
        // What is hidden as the system's own temporary directory is still there to be used.
        let scratch = place == Place::Covered && real == Path::new("/tmp");
        if !scratch {
            self.places.insert(real.clone(), place);
        }
        Some(real)
    }

    /// Without the links of the path. What lies beneath an overlay cannot be seen from here; nothing
    /// but plain names leads there ([`There`](crate::sandbox::there::There)).
    fn resolve(&self, path: &Path, ways: &mut Ways<'_>) -> Option<Resolved> {
        let beneath = |overlay: &Overlay| path != overlay.at && path.starts_with(&overlay.at);
        if self.overlays.iter().any(beneath) {
            return Some(Resolved {
                real: path.to_owned(),
                links: Vec::new(),
            });
        }
        ways.resolve(path).ok()
    }

    /// What is already so because of what is above it.
    fn without_repetition(mut self) -> Self {
        let same: BTreeSet<PathBuf> = self
            .places
            .iter()
            .filter(|(path, place)| match (self.above(path), place) {
                // There is nothing to be covered.
                (None | Some(Place::Covered | Place::Scratch), Place::Covered) => true,
                (above, place) => above == Some(**place),
            })
            .map(|(path, _)| path.clone())
            .collect();
        self.places.retain(|path, _| !same.contains(path));
        self
    }

    /// A directory that can be written can be renamed, with what is closed or read-only in it: the next
    /// run would look for that where it is no more. A mount stays where it is (EBUSY, rename(2)), so
    /// each directory between what is written and its exceptions becomes one.
    fn with_pins(mut self) -> Self {
        let mut pins = Vec::new();
        for (path, place) in &self.places {
            if !matches!(place, Place::Read | Place::Covered)
                || self.above(path) != Some(Place::Write)
            {
                continue;
            }
            let between = path.ancestors().skip(1);
            let between = between.take_while(|dir| !self.places.contains_key(*dir));
            pins.extend(between.map(|dir| (dir.to_owned(), Place::Write)));
        }
        self.places.extend(pins);
        self
    }

    /// What is at the nearest path above.
    pub(super) fn above(&self, path: &Path) -> Option<Place> {
        let mut above = path.ancestors().skip(1);
        above.find_map(|path| self.places.get(path)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A directory without links in its path, outside /tmp's special meaning.
    fn dir() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        (dir, real)
    }

    #[test]
    fn nested_grants_keep_what_differs_from_above() {
        let (_keep, dir) = dir();
        let (tree, git) = (dir.join("tree"), dir.join("tree/.git"));
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(&git, "gitdir: x").unwrap();
        let plan = Plan::of(&Profile {
            write: vec![tree.clone(), tree.join("src"), dir.join("no-such")],
            read: vec![git.clone(), "/dev/null".into(), "/proc".into()],
            ..Profile::default()
        });
        let expected = [
            (PathBuf::from("/dev/shm"), Place::Scratch),
            (PathBuf::from("/tmp"), Place::Scratch),
            (tree, Place::Write),
            (git, Place::Read),
        ];
        assert_eq!(plan.places, expected.into());
    }

    #[test]
    fn what_is_above_an_exception_cannot_be_renamed() {
        let (_keep, dir) = dir();
        let (local, share) = (dir.join("local"), dir.join("local/share"));
        let (keys, bin) = (share.join("app/keys"), local.join("bin"));
        for dir in [&keys, &bin] {
            fs::create_dir_all(dir).unwrap();
        }
        let plan = Plan::of(&Profile {
            write: vec![local.clone()],
            read: vec![bin.clone()],
            hide: vec![keys.clone()],
            ..Profile::default()
        });
        let expected = [
            (PathBuf::from("/dev/shm"), Place::Scratch),
            (PathBuf::from("/tmp"), Place::Scratch),
            (local, Place::Write),
            (bin, Place::Read),
            (share.clone(), Place::Write),
            (share.join("app"), Place::Write),
            (keys, Place::Covered),
        ];
        assert_eq!(plan.places, expected.into());
    }

    #[test]
    fn covers_are_made_only_where_something_is_seen() {
        let (_keep, dir) = dir();
        let (home, keys) = (dir.join("home"), dir.join("home/.ssh"));
        let elsewhere = dir.join("elsewhere");
        fs::create_dir_all(&keys).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        let plan = Plan::of(&Profile {
            read: vec![home.clone()],
            hide: vec![keys.clone(), elsewhere, "/tmp".into()],
            ..Profile::default()
        });
        let expected = [
            (PathBuf::from("/dev/shm"), Place::Scratch),
            (PathBuf::from("/tmp"), Place::Scratch),
            (home, Place::Read),
            (keys, Place::Covered),
        ];
        assert_eq!(plan.places, expected.into());
    }

    #[test]
    fn shared_memory_is_granted_as_any_other_place_and_devices_are_not() {
        let Ok(dir) = tempfile::tempdir_in(SHARED_MEMORY) else {
            return; // This machine has none.
        };
        let tree = dir.path().canonicalize().unwrap();
        let plan = Plan::of(&Profile {
            read: vec!["/".into()],
            write: vec![
                tree.clone(),
                SHARED_MEMORY.into(),
                "/dev/null".into(),
                "/proc/self".into(),
            ],
            ..Profile::default()
        });
        let expected = [
            (PathBuf::from("/"), Place::Read),
            (PathBuf::from("/dev/shm"), Place::Scratch),
            (tree, Place::Write),
            (PathBuf::from("/tmp"), Place::Scratch),
        ];
        assert_eq!(plan.places, expected.into());
    }

    #[test]
    fn links_on_the_way_are_kept() {
        let (_keep, dir) = dir();
        fs::create_dir_all(dir.join("real/sub")).unwrap();
        symlink("real", dir.join("link")).unwrap();
        symlink("../link/sub", dir.join("real/around")).unwrap();
        let plan = Plan::of(&Profile {
            read: vec![dir.join("link/around")],
            ..Profile::default()
        });
        assert_eq!(plan.places.get(&dir.join("real/sub")), Some(&Place::Read));
        assert_eq!(plan.links.len(), 2, "{:?}", plan.links);
    }

    #[test]
    fn what_a_session_may_have_led_elsewhere_is_granted_nowhere() {
        let (_keep, dir) = dir();
        let (shared, private) = (dir.join("shared"), dir.join("private"));
        fs::create_dir_all(&shared).unwrap();
        fs::create_dir_all(&private).unwrap();
        symlink(&private, shared.join("out")).unwrap();
        let plan = Plan::of(&Profile {
            write: vec![shared.clone(), shared.join("out")],
            shared: vec![shared.clone()],
            ..Profile::default()
        });
        assert_eq!(plan.write, std::slice::from_ref(&shared));
        assert_eq!(plan.places.get(&private), None);
        assert!(plan.links.is_empty(), "{:?}", plan.links);
    }
}
