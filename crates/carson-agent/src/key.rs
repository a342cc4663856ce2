//! What the endpoint knows us by: out of a variable or a file, never out of the command line.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use crate::place::Place;

/// Longest key, in bytes.
const LONGEST: u64 = 16 * 1024;

/// A key that cannot be used.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("--api-key-env: the variable {0} is not set")]
    NoVariable(String),
    /// The file cannot be read.
    #[error("--api-key-file {path:?}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Others can read it.
    #[error("--api-key-file {0:?}: others can read it; chmod 600")]
    Open(PathBuf),
    /// The model can read it.
    #[error("--api-key-file {0:?}: it lies in the working directory, where the model can read it")]
    Inside(PathBuf),
    /// Commands could read it.
    #[error("--api-key-file {0:?}: --read or --write gives it to commands; move it, or name less")]
    Given(PathBuf),
    /// It cannot be sent.
    #[error("{0}: it is not one line of visible ASCII characters, so it is no key")]
    Odd(String),
    /// It holds none.
    #[error("--api-key-file {0:?}: it holds no key")]
    Empty(PathBuf),
}

/// A key, if there is one, and the variable that it came from.
#[derive(Debug)]
pub struct Key {
    /// It.
    pub value: Option<SecretString>,
    /// What nobody else may see.
    pub variable: Option<String>,
}

impl Key {
    /// Whether a variable is the one that it came from, or holds it as well.
    #[must_use]
    pub fn is_in(&self, name: &OsStr, value: &OsStr) -> bool {
        let key = self.value.as_ref().map(ExposeSecret::expose_secret);
        let is_its_own = self.variable.as_deref().is_some_and(|own| name == own);
        is_its_own || key.is_some_and(|key| value.to_string_lossy().contains(key))
    }

    /// The key of a variable or of a file, which is neither in the place nor in what commands are given beside.
    ///
    /// # Errors
    /// When it is named and cannot be used.
    pub fn of(
        variable: Option<&str>,
        file: Option<&Path>,
        place: &Place,
        given: &[PathBuf],
    ) -> Result<Self, KeyError> {
        let value = match (variable, file) {
            (Some(name), _) => {
                let value = std::env::var(name).unwrap_or_default();
                let value = value.trim();
                if value.is_empty() {
                    return Err(KeyError::NoVariable(name.to_owned()));
                }
                Some(secret(value).ok_or_else(|| KeyError::Odd(format!("--api-key-env {name}")))?)
            }
            (None, Some(path)) => Some(read(path, place, given)?),
            (None, None) => None,
        };
        Ok(Self {
            value,
            variable: variable.map(str::to_owned),
        })
    }
}

/// What can stand in a header.
fn secret(key: &str) -> Option<SecretString> {
    let fits = key.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| SecretString::from(key))
}

fn read(path: &Path, place: &Place, given: &[PathBuf]) -> Result<SecretString, KeyError> {
    let at = || path.to_owned();
    let failed = |source| KeyError::Io { path: at(), source };
    let real = path.canonicalize().map_err(failed)?;
    if real.starts_with(place.root()) {
        return Err(KeyError::Inside(at()));
    }
    if given.iter().any(|given| real.starts_with(given)) {
        return Err(KeyError::Given(at()));
    }
    let about = real.metadata().map_err(failed)?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(failed(io::ErrorKind::InvalidInput.into()));
    }
    if about.mode() & 0o077 != 0 {
        return Err(KeyError::Open(at()));
    }
    let text = std::fs::read_to_string(&real).map_err(failed)?;
    match text.trim() {
        "" => Err(KeyError::Empty(at())),
        key => secret(key).ok_or_else(|| KeyError::Odd(format!("--api-key-file {path:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn root(dir: &tempfile::TempDir) -> PathBuf {
        dir.path().canonicalize().unwrap()
    }

    #[test]
    fn a_file_is_for_us_alone_and_out_of_the_models_reach() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        let place = Place::new(&work).unwrap();
        let write = |path: &Path, text: &str, mode: u32| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let (good, bad) = (dir.path().join("key"), work.join("key"));
        write(&good, " k-123\n", 0o600);
        write(&bad, "k-123", 0o600);
        let key = |path: &Path| Key::of(None, Some(path), &place, &[]);
        assert_eq!(key(&good).unwrap().value.unwrap().expose_secret(), "k-123");
        assert!(matches!(key(&bad), Err(KeyError::Inside(_))));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&bad, &link).unwrap();
        assert!(matches!(key(&link), Err(KeyError::Inside(_))));
        let given = [root(&dir).join("keys"), root(&dir)];
        let read = Key::of(None, Some(&good), &place, &given);
        assert!(matches!(read, Err(KeyError::Given(_))));
        for odd in ["k-1\nk-2\n", "k 1", "schlüssel", "k\u{1}"] {
            write(&good, odd, 0o600);
            assert!(matches!(key(&good), Err(KeyError::Odd(_))), "{odd:?}");
        }
        write(&good, "k-123", 0o644);
        assert!(matches!(key(&good), Err(KeyError::Open(_))));
        write(&good, " \n", 0o600);
        assert!(matches!(key(&good), Err(KeyError::Empty(_))));
        let missing = Key::of(Some("CARSON_AGENT_NO_SUCH_KEY"), None, &place, &[]);
        assert!(matches!(missing, Err(KeyError::NoVariable(_))));
    }
}
