//! A file of events: one JSON document a line, only added to.
//!
//! A killed process may leave half a line at the end. Readers leave it out, and the next writer takes it away.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json_file::FileError;
use crate::own_file::{How, open};

/// Bytes from the end that are looked through for the last whole line.
const LINE: u64 = 4 << 20;
/// Bytes of a file that are read.
const MOST: u64 = 256 << 20;

/// Adds events to a file. One process at a time may.
#[derive(Debug)]
pub struct EventsWriter<E> {
    path: PathBuf,
    file: File,
    events: PhantomData<fn(E)>,
}

impl<E: Serialize> EventsWriter<E> {
    /// Opens a file, which is made if need be; half a line at its end goes.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let mut file = open(path, How::Append).map_err(FileError::io(path))?;
        mend(&mut file).map_err(FileError::io(path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            events: PhantomData,
        })
    }

    /// Adds one, in one piece.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, event: &E) -> Result<(), FileError> {
        let fail = |source| FileError::io(&self.path)(source);
        let mut line = serde_json::to_vec(event).map_err(|error| fail(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(fail)
    }

    /// Whether it is still there under its name.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let place = |found: &fs::Metadata| (found.dev(), found.ino());
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(ours), Ok(there)) => place(&ours) == place(&there),
            _ => false,
        }
    }

    /// A handle of the file, for whoever sees to it that it is on the disk.
    ///
    /// # Errors
    /// When there are no more handles.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// All events of a file, oldest first; none where there is no file.
///
/// # Errors
/// When it cannot be read, or a line that is whole is no event: with its number.
pub fn read_events<E: DeserializeOwned>(path: &Path) -> Result<Vec<E>, FileError> {
    let bytes = match crate::own_file::read(path, MOST) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let path = path.to_owned();
            return Err(FileError::TooLong { path, most: MOST });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileError::io(path)(error)),
    };
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let lines = bytes[..whole].split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    lines
        .map(|(at, line)| {
            crate::json_file::parse(path, line).map_err(|error| match error {
                FileError::Malformed {
                    path,
                    column,
                    detail,
                    ..
                } => FileError::Malformed {
                    path,
                    line: at + 1,
                    column,
                    detail,
                },
                other => other,
            })
        })
        .collect()
}

/// Takes half a line away from the end.
fn mend(file: &mut File) -> io::Result<()> {
    let size = file.metadata()?.len();
    let from = size.saturating_sub(LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    io::Read::by_ref(file).take(LINE).read_to_end(&mut tail)?;
    let whole = tail
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map(|at| at + 1);
    match whole {
        Some(whole) if whole == tail.len() => Ok(()),
        Some(whole) => file.set_len(from + whole as u64),
        None if from == 0 => file.set_len(0),
        // No line of ours is so long: it stays, and is told when it is read.
        None => file.write_all(b"\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, events: &[u32]) {
        let mut writer = EventsWriter::open(path).unwrap();
        events.iter().for_each(|event| writer.add(event).unwrap());
    }

    #[test]
    fn half_a_line_at_the_end_is_no_event_and_the_next_writer_takes_it_away() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        assert!(read_events::<u32>(&path).unwrap().is_empty());
        write(&path, &[1, 22]);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(read_events::<u32>(&path).unwrap(), [1, 22][..lines]);
            write(&path, &[333]);
            let all = [&[1, 22][..lines], &[333]].concat();
            assert_eq!(read_events::<u32>(&path).unwrap(), all);
        }
    }

    #[test]
    fn a_line_that_somebody_broke_is_told_with_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        std::fs::write(&path, "1\n\nno\n3\n").unwrap();
        let error = read_events::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains("events.jsonl:3:"), "{error}");
    }
}
