//! What a firing leaves for people to read.

use std::path::{Path, PathBuf};

use crate::refusal::Refusal;

/// What the name of a kept prompt ends with, after that of its session.
pub(crate) const PROMPT: &str = ".prompt.txt";

/// What the name of a transcript ends with, after that of its session.
pub(crate) const TRANSCRIPT: &str = ".jsonl";

/// What the name of what a check printed ends with, after the number of the session whose work it judged.
pub(crate) const CHECKED: &str = "-verify.txt";

/// The newest file of this kind in a firing's directory.
pub(crate) fn newest(dir: &Path, kind: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = files.filter(|file| file.file_name().to_string_lossy().ends_with(kind));
    named.map(|file| file.path()).max()
}

/// What sessions print is bytes, not always text.
pub(crate) fn read(file: &Path) -> Result<String, Refusal> {
    let bytes = std::fs::read(file).map_err(|source| Refusal::File {
        what: file.display().to_string(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
