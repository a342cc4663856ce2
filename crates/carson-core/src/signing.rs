//! What the commits of a firing are signed with before they leave.

use std::fmt;
use std::path::{Path, PathBuf};

/// A key of the operator's that no session sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigningKey {
    /// A file for `ssh-keygen -Y sign`: a private key without a passphrase, or a public one whose private
    /// half an agent holds.
    Ssh(PathBuf),
    /// What `gpg --local-user` takes: a fingerprint, an address.
    Gpg(String),
}

impl SigningKey {
    /// Reads `ssh:FILE` or `gpg:KEY`; the file as it is written. `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, key) = text.split_once(':')?;
        // A key that begins with a dash would be an option of the program, and nobody expands a variable.
        let is_odd = key.starts_with(['-', '$']) || key.contains(char::is_control);
        if key.is_empty() || key.trim() != key || is_odd {
            return None;
        }
        match kind {
            "ssh" => Some(Self::Ssh(PathBuf::from(key))),
            "gpg" => Some(Self::Gpg(key.to_owned())),
            _ => None,
        }
    }

    /// The file that it lies in, where that is known.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Ssh(file) => Some(file),
            Self::Gpg(_) => None,
        }
    }
}

impl fmt::Display for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh(file) => write!(f, "ssh:{}", file.display()),
            Self::Gpg(key) => write!(f, "gpg:{key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_kind_and_a_name() {
        let ssh = SigningKey::parse("ssh:~/.ssh/carson").unwrap();
        assert_eq!(ssh.file(), Some(Path::new("~/.ssh/carson")));
        assert_eq!(ssh.to_string(), "ssh:~/.ssh/carson");
        let gpg = SigningKey::parse("gpg:agent@acme.example").unwrap();
        assert_eq!(gpg, SigningKey::Gpg("agent@acme.example".into()));
        for odd in [
            "",
            "ssh",
            "ssh:",
            "gpg: ",
            "x509:a",
            "gpg:--output=/x",
            "ssh:a\nb",
            "ssh: ~/key",
            "ssh:$HOME/key",
            "ssh: ~/key",
            "ssh:$HOME/key",
        ] {
            assert_eq!(SigningKey::parse(odd), None, "{odd:?}");
        }
    }
}
