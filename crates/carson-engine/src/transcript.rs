//! The output of a session, as it came, but for secrets.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use carson_proc::Line;
use carson_redact::{Redactor, Stream};

use crate::error::EngineError;

/// An open transcript, mode 0600.
pub(crate) struct Transcript {
    file: File,
    redactor: Redactor,
    stream: Stream,
    /// What can be written now.
    ready: Vec<u8>,
}

impl Transcript {
    pub(crate) fn create(path: &Path, redactor: &Redactor) -> Result<Self, EngineError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path);
        let file = file.map_err(|source| EngineError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            file,
            redactor: redactor.clone(),
            stream: redactor.stream(),
            ready: Vec::new(),
        })
    }

    /// Adds one line.
    pub(crate) fn line(&mut self, line: &Line<'_>) {
        if line.truncated {
            // Its end is missing, and may be that of a secret.
            self.stream.finish(&mut self.ready);
            let cut = self.redactor.redact_bytes(line.bytes);
            self.ready.extend_from_slice(&cut);
            self.ready.push(b'\n');
        } else {
            self.stream.push(line.bytes, &mut self.ready);
            self.stream.push(b"\n", &mut self.ready);
        }
        self.write();
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) {
        self.stream.finish(&mut self.ready);
        self.write();
    }

    /// A full disk must not end a session that still works: the transcript is then short, and
    /// preflight refuses the next firing.
    fn write(&mut self) {
        let _ = self.file.write_all(&self.ready);
        self.ready.clear();
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        self.end();
    }
}
