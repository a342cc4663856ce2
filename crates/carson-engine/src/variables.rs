//! The environment of a session, as it is asked by name.

use std::ffi::{OsStr, OsString};

/// Names and values.
pub(crate) type Variables = [(OsString, OsString)];

/// What a variable says; `None` where it is empty. The last one of a name counts.
pub(crate) fn given<'a>(env: &'a Variables, wanted: &str) -> Option<&'a OsStr> {
    let found = env.iter().rfind(|(name, _)| name == wanted);
    found
        .map(|(_, value)| value.as_os_str())
        .filter(|value| !value.is_empty())
}
