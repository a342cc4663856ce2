//! What a task prints, in a file that can be read while it does: its beginning as it comes, its end when it has
//! ended. No secret is in it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use carson_redact::{Redactor, Stream};

use crate::executor::KEEP;
use crate::output::Output;
use crate::own_file::{How, open};

/// A file that grows.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    clean: Stream,
    redactor: Redactor,
    written: usize,
    piece: Vec<u8>,
}

impl OutputFile {
    pub(crate) fn create(path: &Path, redactor: &Redactor) -> io::Result<Self> {
        let file = open(path, How::Write)?;
        file.set_len(0)?;
        Ok(Self {
            file,
            clean: redactor.stream(),
            redactor: redactor.clone(),
            written: 0,
            piece: Vec::new(),
        })
    }

    /// A line, if the beginning has room for it. What cannot be written now is told at the end.
    pub(crate) fn line(&mut self, bytes: &[u8]) {
        if self.written < KEEP {
            self.written += bytes.len() + 1;
            self.clean.push(bytes, &mut self.piece);
            self.clean.push(b"\n", &mut self.piece);
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        let _ = self.file.write_all(&self.piece);
        self.piece.clear();
    }

    /// Nothing more comes: it is what was kept of the output.
    pub(crate) fn finish(mut self, output: &Output) -> io::Result<()> {
        if output.total() <= KEEP as u64 {
            self.clean.finish(&mut self.piece);
            return self.file.write_all(&self.piece);
        }
        let text = self.redactor.redact(&output.text()).into_owned();
        self.file.set_len(0)?;
        std::os::unix::fs::FileExt::write_all_at(&self.file, text.as_bytes(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_line_by_line_and_keeps_both_ends_without_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        let secret = secrecy::SecretString::from("hunter2hunter2".to_owned());
        let redactor = Redactor::new([secret]);
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut output = Output::keeping(KEEP);
        let mut file = OutputFile::create(&path, &redactor).unwrap();
        let mut say = |file: &mut OutputFile, line: &str| {
            file.line(line.as_bytes());
            output.push(format!("{line}\n").as_bytes());
        };
        say(&mut file, "first hunter2hunter2");
        say(&mut file, "second");
        assert!(read().starts_with("first [redacted:"), "{}", read());
        say(&mut file, &"x".repeat(3 * KEEP));
        say(&mut file, "last hunter2hunter2");
        file.finish(&output).unwrap();
        let text = read();
        assert!(text.len() < 2 * KEEP + 200, "{}", text.len());
        assert!(!text.contains("hunter2"));
        let end = &text[text.len() - 100..];
        assert!(
            text.contains("bytes left out") && end.contains("last [redacted:"),
            "{end}"
        );
    }
}
