//! The name of something in a tree.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands before a name in JSON that is no plain text.
const CODED: &str = "base64:";

/// A path below the root of a tree: bytes, as the system has them. In JSON it is its text; one that is
/// not UTF-8, has control characters or begins with `base64:` is `base64:` and its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct TreePath(#[schemars(with = "String")] Vec<u8>);

impl TreePath {
    /// Of bytes such as `a/b`.
    ///
    /// # Errors
    /// When they lead out of the tree, or name nothing in it.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, String> {
        let bytes = bytes.into();
        let odd = |part: &[u8]| matches!(part, b"" | b"." | b"..");
        if bytes.contains(&0) || bytes.split(|byte| *byte == b'/').any(odd) {
            let shown = String::from_utf8_lossy(&bytes);
            return Err(format!("{shown:?} is no path below the top of a tree"));
        }
        Ok(Self(bytes))
    }

    /// A name in this directory; `None` is the top. The name is one that the system told.
    pub(crate) fn in_dir(dir: Option<&Self>, name: &[u8]) -> Self {
        match dir {
            None => Self(name.to_vec()),
            Some(dir) => Self([&dir.0, b"/".as_slice(), name].concat()),
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a relative path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The directory that it is in; `None` at the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let at = self.0.iter().rposition(|byte| *byte == b'/')?;
        Some(Self(self.0[..at].to_vec()))
    }

    /// Its last part.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.0
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or(&self.0)
    }

    /// Its parts.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// Whether it is this directory or lies in it.
    #[must_use]
    pub fn is_in(&self, dir: &Self) -> bool {
        let rest = self.0.strip_prefix(dir.0.as_slice());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(self.clone()))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> Self {
        text_of(path.0)
    }
}

impl TryFrom<String> for TreePath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(bytes_of(&text)?)
    }
}

/// Bytes as a text that is theirs alone.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    let is_plain = |text: &String| !text.starts_with(CODED) && !text.chars().any(char::is_control);
    match String::from_utf8(bytes) {
        Ok(text) if is_plain(&text) => text,
        Ok(text) => format!("{CODED}{}", STANDARD.encode(text)),
        Err(error) => format!("{CODED}{}", STANDARD.encode(error.as_bytes())),
    }
}

/// The bytes of such a text.
pub(crate) fn bytes_of(text: &str) -> Result<Vec<u8>, String> {
    let Some(code) = text.strip_prefix(CODED) else {
        return Ok(text.as_bytes().to_vec());
    };
    let bytes = STANDARD.decode(code);
    bytes.map_err(|error| format!("{text:?} is no path: {error}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_leads_out_of_the_tree_is_no_path() {
        for odd in ["", "/", "/etc", "a//b", "a/", "..", "a/../b", "./a", "a\0b"] {
            assert!(TreePath::new(odd).is_err(), "{odd:?}");
        }
        assert!(
            TreePath::try_from("base64:Li4vYQ==".to_owned()).is_err(),
            "../a"
        );
        let path = TreePath::new("a/b").unwrap();
        assert_eq!(path.parent(), Some(TreePath::new("a").unwrap()));
        assert!(path.is_in(&TreePath::new("a").unwrap()));
        assert!(
            !TreePath::new("ab")
                .unwrap()
                .is_in(&TreePath::new("a").unwrap())
        );
    }

    proptest! {
        #[test]
        fn every_path_survives_json(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
            if let Ok(path) = TreePath::new(bytes) {
                let json = serde_json::to_string(&path).unwrap();
                prop_assert_eq!(serde_json::from_str::<TreePath>(&json).unwrap(), path);
            }
        }

        #[test]
        fn texts_like_codes_survive_too(text in "base64:[a-z/=]{0,9}") {
            if let Ok(path) = TreePath::new(text) {
                prop_assert_eq!(TreePath::try_from(String::from(path.clone())), Ok(path));
            }
        }
    }
}
