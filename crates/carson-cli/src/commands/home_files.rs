//! Files that Carson makes for an operator, once: they are theirs from then on.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::CommandError;

/// A file of the home could not be made.
pub fn not_writable(error: std::io::Error) -> CommandError {
    CommandError::from(error)
        .hint("check that the home can be written, or choose another with --home")
}

/// Makes a file that is not there yet, and the directories above it.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}
