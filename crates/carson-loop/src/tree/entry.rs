//! What stands at one path of a tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Hasher};

/// What stands at one path, as far as it can be told from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// What it is.
    #[serde(flatten)]
    pub what: What,
    /// Its permissions, with the bits above them.
    #[serde(with = "octal")]
    #[schemars(with = "String", regex(pattern = "^[0-7]{4}$"))]
    pub mode: u32,
}

/// What something is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum What {
    /// A regular file.
    File {
        /// Its bytes.
        size: u64,
        /// Their SHA-256.
        hash: Digest,
    },
    /// A regular file that was not read: it may not be, or is too large. It is told from another one by
    /// its times.
    Unread {
        /// Its bytes.
        size: u64,
        /// When it was changed last, in nanoseconds since 1970.
        changed: i64,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        to: Target,
    },
    /// A directory.
    Dir,
    /// A pipe with a name.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// Where a link leads: any bytes. In JSON as a [`TreePath`](super::TreePath) is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub struct Target(#[schemars(with = "String")] pub Vec<u8>);

impl From<Target> for String {
    fn from(target: Target) -> Self {
        super::path::text_of(target.0)
    }
}

impl From<String> for Target {
    fn from(text: String) -> Self {
        Self(super::path::bytes_of(&text).unwrap_or_else(|_| text.into_bytes()))
    }
}

impl Entry {
    /// The content of a file that was read.
    #[must_use]
    pub fn content(&self) -> Option<&Digest> {
        match &self.what {
            What::File { hash, .. } => Some(hash),
            _ => None,
        }
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.what == What::Dir
    }

    /// Whether it is a regular file, read or not.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.what, What::File { .. } | What::Unread { .. })
    }

    pub(crate) fn hash_into(&self, hasher: &mut Hasher) {
        hasher.add(&self.mode.to_le_bytes());
        hasher.part(self.what.to_string().as_bytes());
        match &self.what {
            What::File { hash, .. } => hasher.part(hash.to_string().as_bytes()),
            What::Unread { size, changed } => {
                hasher.add(&size.to_le_bytes());
                hasher.add(&changed.to_le_bytes());
            }
            What::Link { to } => hasher.part(&to.0),
            What::Dir | What::Fifo | What::Socket | What::Device => {}
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File { .. } => "file",
            Self::Unread { .. } => "unread file",
            Self::Link { .. } => "link",
            Self::Dir => "directory",
            Self::Fifo => "pipe",
            Self::Socket => "socket",
            Self::Device => "device",
        })
    }
}

mod octal {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(mode: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{mode:04o}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let text = String::deserialize(from)?;
        let mode = u32::from_str_radix(&text, 8)
            .ok()
            .filter(|mode| *mode <= 0o7777);
        mode.ok_or_else(|| D::Error::custom(format!("{text:?} is no mode such as \"0644\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_plain_json_and_reads_itself() {
        let hash = Digest::of(b"abc");
        for (what, json) in [
            (
                What::File { size: 3, hash },
                format!(r#"{{"kind":"file","size":3,"hash":"{hash}","mode":"0755"}}"#),
            ),
            (
                What::Link {
                    to: Target(b"\xff".to_vec()),
                },
                r#"{"kind":"link","to":"base64:/w==","mode":"0755"}"#.to_owned(),
            ),
            (What::Dir, r#"{"kind":"dir","mode":"0755"}"#.to_owned()),
        ] {
            let entry = Entry { what, mode: 0o755 };
            assert_eq!(serde_json::to_string(&entry).unwrap(), json);
            assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), entry);
        }
    }
}
