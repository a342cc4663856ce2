//! What a firing leaves for people to read.

use std::path::Path;

use crate::refusal::Refusal;

/// What the name of a kept prompt ends with, after that of its session.
pub(crate) const PROMPT: &str = ".prompt.txt";

/// What the name of a transcript ends with, after that of its session.
pub(crate) const TRANSCRIPT: &str = ".jsonl";

/// What sessions print is bytes, not always text.
pub(crate) fn read(file: &Path) -> Result<String, Refusal> {
    let bytes = std::fs::read(file).map_err(|source| Refusal::File {
        what: file.display().to_string(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
