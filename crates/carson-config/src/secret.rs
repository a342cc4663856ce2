//! Secrets in files that only their owner may read.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

/// A secret that cannot be had.
#[derive(Debug, Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("{path:?} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("{path:?} is readable by others (mode {mode:04o}): run chmod 600 on it")]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// There is nothing in it.
    #[error("{path:?} is empty")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It could be guessed.
    #[error("{path:?}: its token is shorter than {LEAST_TOKEN} characters")]
    Short {
        /// The file.
        path: PathBuf,
    },
}

/// A shorter token could be guessed.
const LEAST_TOKEN: usize = 32;

/// Reads a file with a token that others have to show us.
///
/// # Errors
/// As [`read_secret`], and when the token could be guessed.
pub(crate) fn read_token(path: &Path) -> Result<SecretString, SecretError> {
    let token = read_secret(path)?;
    match token.expose_secret().len() >= LEAST_TOKEN {
        true => Ok(token),
        false => Err(SecretError::Short {
            path: path.to_owned(),
        }),
    }
}

/// What a secret file holds, whoever else may read it: what must appear nowhere is secret also where its file is
/// not kept as one.
#[must_use]
pub fn known_secret(path: &Path) -> Option<SecretString> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| SecretString::from(text))
}

/// Reads a secret file: mode 0600 or narrower, its text without the surrounding blanks.
///
/// # Errors
/// When it cannot be read, others can read it too, or it is empty.
pub fn read_secret(path: &Path) -> Result<SecretString, SecretError> {
    let read = |source| SecretError::Read {
        path: path.to_owned(),
        source,
    };
    let mode = path.metadata().map_err(read)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretError::Open {
            path: path.to_owned(),
            mode,
        });
    }
    let text = std::fs::read_to_string(path).map_err(read)?;
    if text.trim().is_empty() {
        return Err(SecretError::Empty {
            path: path.to_owned(),
        });
    }
    Ok(SecretString::from(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_may_read_a_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        assert!(matches!(read_secret(&path), Err(SecretError::Read { .. })));
        std::fs::write(&path, " \n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let open = read_secret(&path).unwrap_err();
        assert!(open.to_string().contains("mode 0644") && open.to_string().contains("chmod 600"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert!(matches!(read_secret(&path), Err(SecretError::Empty { .. })));
    }
}
