//! Where a repository comes from, and how to sign in there.

use std::fmt;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use crate::error::GitError;
use crate::scratch::Scratch;

/// A repository's address, with the credential for it.
#[derive(Clone)]
pub struct Remote {
    /// What git understands: a URL, `host:path` or a local path.
    pub url: String,
    /// For `https` only; `None` leaves it to the operator's own git settings and ssh keys.
    pub credential: Option<Credential>,
}

/// A user name and a password or token. It reaches git in a file with mode 0600, never in the
/// arguments, the address or the environment.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The user name; forges take any for a token.
    pub username: String,
    /// The password or token.
    pub password: SecretString,
}

impl Remote {
    /// A repository that needs no credential of ours.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            credential: None,
        }
    }

    /// The address without what may be a secret in it.
    #[must_use]
    pub fn shown(&self) -> String {
        match web(&self.url) {
            Some(Web {
                scheme,
                user: Some(_),
                rest,
            }) => format!("{scheme}://{rest}"),
            _ => self.url.clone(),
        }
    }

    /// Where it lies, if it is on this machine.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        let path = Path::new(self.url.strip_prefix("file://").unwrap_or(&self.url));
        path.is_absolute().then_some(path)
    }

    /// Removes the secrets of the address from what git said.
    pub(crate) fn redact(&self, said: &str) -> String {
        match web(&self.url).and_then(|web| web.user) {
            Some(user) => {
                let secret = user.split_once(':').map_or(user, |(_, password)| password);
                let said = said.replace(&format!("{user}@"), "");
                if secret.is_empty() {
                    said
                } else {
                    said.replace(secret, "***")
                }
            }
            None => said.to_owned(),
        }
    }

    /// The address to give to git: the credential decides who we are, not the address.
    pub(crate) fn address(&self) -> String {
        if self.credential.is_some() {
            self.shown()
        } else {
            self.url.clone()
        }
    }

    /// A file for `git credential-store`, when there is a credential and it can be used.
    pub(crate) fn credential_file(&self, mirror: &Path) -> Result<Option<Scratch>, GitError> {
        let (Some(credential), Some(web)) = (&self.credential, web(&self.url)) else {
            return Ok(None);
        };
        let host = web.rest.split('/').next().unwrap_or_default();
        let user = encoded(&credential.username);
        let password = encoded(credential.password.expose_secret());
        let line = format!("{}://{user}:{password}@{host}\n", web.scheme);
        Scratch::with(mirror, "credential", line.as_bytes()).map(Some)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &self.shown())
            .finish_non_exhaustive()
    }
}

impl From<String> for Remote {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}

impl From<&String> for Remote {
    fn from(url: &String) -> Self {
        Self::new(url)
    }
}

impl From<&str> for Remote {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

/// The parts of an address that a web server answers.
struct Web<'u> {
    scheme: &'u str,
    user: Option<&'u str>,
    rest: &'u str,
}

fn web(url: &str) -> Option<Web<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let host = rest.split('/').next().unwrap_or_default();
    Some(match host.rfind('@') {
        Some(at) => Web {
            scheme,
            user: Some(&rest[..at]),
            rest: &rest[at + 1..],
        },
        None => Web {
            scheme,
            user: None,
            rest,
        },
    })
}

/// Percent-encoding of everything that has a meaning in a URL, or none (RFC 3986).
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_no_secret() {
        let remote = Remote::new("https://bot:hunter2@git.example/acme/widget");
        assert_eq!(remote.shown(), "https://git.example/acme/widget");
        assert!(!format!("{remote:?}").contains("hunter2"));
        let said = "fatal: unable to access 'https://bot:hunter2@git.example/acme/widget': 403";
        assert!(!remote.redact(said).contains("hunter2"));
        for plain in [
            "git@git.example:acme/widget.git",
            "/srv/git/widget",
            "ssh://git@host/x",
        ] {
            assert_eq!(Remote::new(plain).shown(), plain);
        }
    }

    #[test]
    fn a_credential_file_holds_one_encoded_line() {
        let home = tempfile::tempdir().unwrap();
        let mut remote = Remote::new("https://old@git.example:8443/acme/widget");
        remote.credential = Some(Credential {
            username: "x".into(),
            password: "p@ss/w:rd\n".into(),
        });
        let file = remote
            .credential_file(&home.path().join("w.git"))
            .unwrap()
            .unwrap();
        let line = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(line, "https://x:p%40ss%2Fw%3Ard%0A@git.example:8443\n");
        assert_eq!(remote.address(), "https://git.example:8443/acme/widget");
        remote.url = "git@git.example:acme/widget".into();
        assert!(remote.credential_file(home.path()).unwrap().is_none());
    }
}
