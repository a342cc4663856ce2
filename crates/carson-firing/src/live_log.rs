//! What a setup prints, in its log while it runs: for whoever follows it, and for what a killed firing leaves.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use carson_redact::{Redactor, Stream};

/// Bytes that are written; the end of a run writes its head and its tail.
const MOST: usize = 1024 * 1024;

/// A log that grows. What cannot be written is not: the run writes it as a whole when it ends, and says it then.
pub(crate) struct LiveLog {
    file: Option<File>,
    stream: Stream,
    left: usize,
}

impl LiveLog {
    /// A new one at `path`, for its owner alone, which begins with this line.
    pub(crate) fn begin(path: &Path, redactor: &Redactor, title: &str) -> Self {
        let mut log = Self {
            file: create(path).ok(),
            stream: redactor.stream(),
            left: MOST,
        };
        log.add(title.as_bytes());
        log
    }

    /// One more line, without its end.
    pub(crate) fn add(&mut self, line: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let mut out = Vec::new();
        self.stream.push(line, &mut out);
        self.stream.push(b"\n", &mut out);
        let fits = out.len() <= self.left;
        if !fits || file.write_all(&out).is_err() {
            self.file = None;
        }
        self.left = self.left.saturating_sub(out.len());
    }
}

/// A file for its owner alone, empty.
pub(crate) fn create(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_grows_by_redacted_lines_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let redactor = Redactor::new(["hunter2-of-mine".to_owned().into()]);
        let mut log = LiveLog::begin(&path, &redactor, "setup of widget");
        log.add(b"one hunter2-of-mine");
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.starts_with("setup of widget\none "), "{written}");
        assert!(!written.contains("hunter2"), "{written}");
        for _ in 0..2_000 {
            log.add(&[b'x'; 1000]);
        }
        assert!(fs::metadata(&path).unwrap().len() <= MOST as u64);
        // Where it cannot be, nothing happens.
        LiveLog::begin(&dir.path().join("not/there"), &redactor, "x").add(b"y");
    }
}
