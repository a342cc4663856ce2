//! From a path as it was written to where it leads, past no link that a session may have left.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// Links in one path before we give up, as the kernel does.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path without links: to be opened without following any.
    pub real: PathBuf,
    /// Links on the way, and where they point.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// A path that leads nowhere, or where it must not be followed.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The file system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Links that lead in a circle.
    #[error("it has more than {MAX_LINKS} links")]
    Loop,
    /// A link where sessions write: an earlier one may have left it for the next.
    #[error("{link:?} is a link, and sessions may write in {place:?}")]
    Planted {
        /// The link.
        link: PathBuf,
        /// What a session may write.
        place: PathBuf,
    },
}

/// Follows the links of a path one by one. `shared` are the places, without links themselves, that
/// sessions may write: a link beneath one of them is not followed.
///
/// # Errors
/// When the path does not exist, its links lead in a circle, or one of them lies in what sessions
/// may write.
pub fn resolve(path: &Path, shared: &[PathBuf]) -> Result<Resolved, ResolveError> {
    Ways::past(shared).resolve(path)
}

/// Many paths that are followed at one time: what was found to be no link is not looked at again.
#[derive(Debug)]
pub struct Ways<'s> {
    shared: &'s [PathBuf],
    plain: HashSet<PathBuf>,
}

impl<'s> Ways<'s> {
    /// None of them through a link in one of these, which have no links themselves.
    #[must_use]
    pub fn past(shared: &'s [PathBuf]) -> Self {
        Self {
            shared,
            plain: HashSet::new(),
        }
    }

    /// As [`resolve`].
    ///
    /// # Errors
    /// The same.
    pub fn resolve(&mut self, path: &Path) -> Result<Resolved, ResolveError> {
        let mut links = Vec::new();
        let mut real = PathBuf::from("/");
        let mut left: Vec<PathBuf> = parts(path);
        while let Some(part) = left.pop() {
            if part == Path::new("..") {
                real.pop();
                continue;
            }
            let next = real.join(part);
            if self.plain.contains(&next) {
                real = next;
                continue;
            }
            if !fs::symlink_metadata(&next)?.is_symlink() {
                self.plain.insert(next.clone());
                real = next;
                continue;
            }
            if let Some(place) = self.shared.iter().find(|place| real.starts_with(place)) {
                let place = place.clone();
                return Err(ResolveError::Planted { link: next, place });
            }
            let target = fs::read_link(&next)?;
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            left.extend(parts(&target));
            links.push((next, target));
            if links.len() > MAX_LINKS {
                return Err(ResolveError::Loop);
            }
        }
        Ok(Resolved { real, links })
    }
}

/// Its names, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let part = |component: Component<'_>| match component {
        Component::Normal(_) | Component::ParentDir => Some(PathBuf::from(component.as_os_str())),
        _ => None,
    };
    path.components().rev().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_followed_unless_a_session_may_have_left_it() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        fs::create_dir_all(dir.join("shared")).unwrap();
        fs::create_dir_all(dir.join("private")).unwrap();
        symlink(dir.join("shared"), dir.join("own")).unwrap();
        symlink(dir.join("private"), dir.join("shared/planted")).unwrap();
        let shared = [dir.join("shared")];

        // The operator's own link leads to the shared place itself.
        let found = resolve(&dir.join("own"), &shared).unwrap();
        assert_eq!(found.real, dir.join("shared"));
        assert_eq!(found.links, [(dir.join("own"), dir.join("shared"))]);

        // By whatever name: where the link lies counts.
        for way in ["shared/planted", "own/planted", "private/../own/planted"] {
            let error = resolve(&dir.join(way), &shared).unwrap_err();
            assert!(matches!(error, ResolveError::Planted { .. }), "{error}");
            let free = resolve(&dir.join(way), &[]).unwrap();
            assert_eq!(free.real, dir.join("private"));
        }
    }

    #[test]
    fn a_circle_is_left() {
        let dir = tempfile::tempdir().unwrap();
        symlink("loop", dir.path().join("loop")).unwrap();
        let error = resolve(&dir.path().join("loop"), &[]).unwrap_err();
        assert!(matches!(error, ResolveError::Loop), "{error}");
    }
}
