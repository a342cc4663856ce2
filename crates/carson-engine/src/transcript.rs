//! The raw output of a session, as it came.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::EngineError;

/// An open transcript, mode 0600.
pub(crate) struct Transcript(File);

impl Transcript {
    pub(crate) fn create(path: &Path) -> Result<Self, EngineError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path);
        file.map(Self).map_err(|source| EngineError::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Adds one line. A full disk must not end a session that still works: the transcript is then
    /// short, and preflight refuses the next firing.
    pub(crate) fn line(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(&[bytes, b"\n"].concat());
    }
}
