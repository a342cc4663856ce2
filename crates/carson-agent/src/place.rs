//! The directory that is worked on, and what lies in it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::beneath;

/// A path that is not one of the directory's.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// It leads out.
    #[error("{0:?} leads out of the working directory")]
    Outside(String),
    /// It is git's own.
    #[error("{0:?} is git's own; use git")]
    GitsOwn(String),
    /// It is no path of a file.
    #[error("{0:?} is no path of a file")]
    Odd(String),
    /// The system says no.
    #[error("{path:?}: {source}")]
    Io {
        /// As it was named.
        path: String,
        /// What it says.
        source: io::Error,
    },
}

/// The directory, without links on the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(PathBuf);

impl Place {
    /// A directory.
    ///
    /// # Errors
    /// When it is none, cannot be reached, or is git's own.
    pub fn new(dir: &Path) -> io::Result<Self> {
        let real = dir.canonicalize()?;
        match real.is_dir() {
            true if real.components().any(is_gits) => Err(io::Error::other("it is git's own")),
            true => Ok(Self(real)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// It.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// What is there, wherever links lead, as long as they lead no further than the directory.
    ///
    /// # Errors
    /// When nothing is there, or it is outside.
    pub fn existing(&self, named: &str) -> Result<PathBuf, PlaceError> {
        let path = self.joined(named)?;
        let real = path.canonicalize().map_err(|source| PlaceError::Io {
            path: named.to_owned(),
            source,
        })?;
        self.inside(real, named)
    }

    /// Where something may be written: what is there, or what would be.
    ///
    /// # Errors
    /// When it is outside, or git's own.
    pub fn to_write(&self, named: &str) -> Result<PathBuf, PlaceError> {
        let mut path = self.joined(named)?;
        let mut missing: Vec<OsString> = Vec::new();
        // A link to nothing is there, too: what it leads to is not followed.
        while path.symlink_metadata().is_err() {
            let Some(Component::Normal(name)) = path.components().next_back() else {
                return Err(PlaceError::Odd(named.to_owned()));
            };
            missing.push(name.to_owned());
            path.pop();
        }
        let real = path.canonicalize().map_err(|source| PlaceError::Io {
            path: named.to_owned(),
            source,
        })?;
        let mut real = self.inside(real, named)?;
        real.extend(missing.iter().rev());
        let below = real.strip_prefix(&self.0).unwrap_or(&real);
        if below.components().any(is_gits) {
            return Err(PlaceError::GitsOwn(named.to_owned()));
        }
        Ok(real)
    }

    /// Opens what [`Self::existing`] found.
    ///
    /// # Errors
    /// When it is there no more, or something else is on the way to it by now.
    pub fn open(&self, real: &Path) -> io::Result<File> {
        beneath::read(&self.0, real.strip_prefix(&self.0).unwrap_or(real))
    }

    /// Writes what [`Self::to_write`] found, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written, or something else is on the way to it by now.
    pub fn replace(&self, real: &Path, content: &str) -> io::Result<()> {
        let below = real.strip_prefix(&self.0).unwrap_or(real);
        beneath::replace(&self.0, below, content.as_bytes())
    }

    /// How something in it is called.
    #[must_use]
    pub fn name_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.0).unwrap_or(path);
        match below.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => below.to_string_lossy().into_owned(),
        }
    }

    fn joined(&self, named: &str) -> Result<PathBuf, PlaceError> {
        match named.contains('\0') || named.len() > 4096 {
            true => Err(PlaceError::Odd(named.chars().take(80).collect())),
            false => Ok(self.0.join(named)),
        }
    }

    fn inside(&self, real: PathBuf, named: &str) -> Result<PathBuf, PlaceError> {
        match real.starts_with(&self.0) {
            true => Ok(real),
            false => Err(PlaceError::Outside(named.to_owned())),
        }
    }
}

fn is_gits(part: Component<'_>) -> bool {
    part.as_os_str().eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_way_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let work = root.join("work");
        fs::create_dir_all(work.join("sub/.git")).unwrap();
        fs::write(work.join("in"), "").unwrap();
        fs::write(root.join("out"), "").unwrap();
        symlink(&root, work.join("up")).unwrap();
        symlink(root.join("out"), work.join("leak")).unwrap();
        symlink(root.join("new"), work.join("dangling")).unwrap();
        symlink(work.join("in"), work.join("alias")).unwrap();
        let place = Place::new(&work).unwrap();

        for good in ["in", "./in", "sub/../in", "alias", "up/work/in"] {
            assert_eq!(place.existing(good).unwrap(), work.join("in"), "{good}");
            assert_eq!(place.to_write(good).unwrap(), work.join("in"), "{good}");
        }
        let absolute = work.join("in");
        assert_eq!(
            place.existing(absolute.to_str().unwrap()).unwrap(),
            absolute
        );
        assert_eq!(place.to_write("a/b/c").unwrap(), work.join("a/b/c"));

        let outside = root.join("out");
        for bad in [
            "../out",
            "up/out",
            "leak",
            "/etc/passwd",
            outside.to_str().unwrap(),
        ] {
            assert!(place.existing(bad).is_err(), "{bad}");
            assert!(place.to_write(bad).is_err(), "{bad}");
        }
        for bad in [
            "up/new",
            "dangling",
            "dangling/x",
            "none/../../x",
            "a\0b",
            "../new",
            "/new",
        ] {
            assert!(place.to_write(bad).is_err(), "{bad}");
        }
        assert!(Place::new(&work.join("sub/.git")).is_err());
        for gits in [".git", ".git/config", "sub/.git/hooks/x", ".GIT/config"] {
            let refused = place.to_write(gits);
            assert!(matches!(refused, Err(PlaceError::GitsOwn(_))), "{gits}");
        }
    }
}
