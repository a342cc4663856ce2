//! Contents of files, each kept once: bytes one behind the other in `data`, and in `index` a line for each,
//! with its hash, where it begins and how long it is.
//!
//! Both are only added to, by one process at a time. Lines follow the bytes that they tell of; what a killed
//! process has not told of is written over by the next one.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::error::TreeError;
use crate::digest::{Digest, Hasher};
use crate::own_file::{self, How};

/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;
/// Bytes that stay free on the disk: so many, and on a small one less.
const RESERVE: u64 = 64 << 20;
/// Of a small disk the part that stays free: one of so many.
const RESERVED: u64 = 16;

/// Where contents are kept.
#[derive(Debug)]
pub struct Contents {
    dir: PathBuf,
    data: File,
    index: File,
    known: HashMap<Digest, Range>,
    /// Where the next content begins.
    end: u64,
    /// Lines that are not in the index yet.
    lines: String,
    buffer: Vec<u8>,
    /// Bytes that may still be written until somebody looks at the disk again.
    room: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    at: u64,
    size: u64,
}

impl Contents {
    /// Opens those in a directory, which is made if need be. One process at a time may.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(dir: &Path) -> Result<Self, TreeError> {
        own_file::make_dir(dir).map_err(TreeError::io(dir))?;
        let open = |name: &str| {
            let path = dir.join(name);
            own_file::open(&path, How::Write).map_err(TreeError::io(path))
        };
        let (data, mut index) = (open("data")?, open("index")?);
        let mut text = Vec::new();
        index.read_to_end(&mut text).map_err(TreeError::io(dir))?;
        // The last line may be half a line.
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        index.set_len(whole as u64).map_err(TreeError::io(dir))?;
        let there = data.metadata().map_err(TreeError::io(dir))?.len();
        let known = lines(&text[..whole]).filter(|(_, range)| range.at + range.size <= there);
        let known: HashMap<Digest, Range> = known.collect();
        let ends = known.values().map(|range| range.at + range.size);
        Ok(Self {
            dir: dir.to_owned(),
            data,
            index,
            end: ends.max().unwrap_or(0),
            known,
            lines: String::new(),
            buffer: vec![0; CHUNK],
            room: 0,
        })
    }

    /// Whether a content is kept.
    #[must_use]
    pub fn has(&self, hash: &Digest) -> bool {
        self.known.contains_key(hash)
    }

    /// Keeps what is read, to its end; its hash and its size, or why it cannot be read. It is kept for good once
    /// [`flush`](Self::flush) was called.
    ///
    /// # Errors
    /// When it cannot be written, or the disk would be full.
    pub fn keep(
        &mut self,
        mut from: impl Read,
    ) -> Result<Result<(Digest, u64), io::Error>, TreeError> {
        let (mut hasher, mut size) = (Hasher::default(), 0);
        loop {
            let read = match from.read(&mut self.buffer) {
                Ok(read) => read,
                Err(error) => return Ok(Err(error)),
            };
            hasher.add(&self.buffer[..read]);
            // Most files are read at once: one that is known is not written at all.
            let whole = size == 0 && read < self.buffer.len();
            let hash = whole.then(|| hasher.clone().end());
            if let Some(hash) = hash.filter(|hash| self.has(hash)) {
                return Ok(Ok((hash, read as u64)));
            }
            if read == 0 {
                break;
            }
            self.reserve(read as u64)?;
            let written = self
                .data
                .write_all_at(&self.buffer[..read], self.end + size);
            written.map_err(TreeError::io(self.dir.join("data")))?;
            size += read as u64;
        }
        let hash = hasher.end();
        if !self.has(&hash) {
            let range = Range { at: self.end, size };
            let _ = writeln!(self.lines, "{hash} {} {size}", range.at);
            self.known.insert(hash, range);
            self.end += size;
        }
        Ok(Ok((hash, size)))
    }

    /// Looks whether there is room for so much more.
    fn reserve(&mut self, size: u64) -> Result<(), TreeError> {
        if self.room < size {
            let found = nix::sys::statvfs::statvfs(&self.dir);
            let found = found.map_err(|error| TreeError::io(&self.dir)(error.into()))?;
            #[cfg_attr(
                target_os = "linux",
                expect(
                    clippy::useless_conversion,
                    reason = "the types differ between systems"
                )
            )]
            let [free, all, block] = [
                u64::from(found.blocks_available()),
                u64::from(found.blocks()),
                u64::from(found.fragment_size()),
            ];
            let (free, all) = (free * block, all * block);
            self.room = free.saturating_sub(RESERVE.min(all / RESERVED)) / 4;
            if self.room < size {
                return Err(TreeError::NoRoom {
                    dir: self.dir.clone(),
                });
            }
        }
        self.room -= size;
        Ok(())
    }

    /// Writes down what was kept since.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn flush(&mut self) -> Result<bool, TreeError> {
        if self.lines.is_empty() {
            return Ok(false);
        }
        let path = self.dir.join("index");
        let end = self.index.metadata().map_err(TreeError::io(&path))?.len();
        let written = self.index.write_all_at(self.lines.as_bytes(), end);
        written.map_err(TreeError::io(path))?;
        self.lines.clear();
        Ok(true)
    }

    /// Handles of its files, for whoever sees to it that they are on the disk: the first one before the second.
    ///
    /// # Errors
    /// When there are no more handles.
    pub fn files(&self) -> io::Result<[File; 2]> {
        Ok([self.data.try_clone()?, self.index.try_clone()?])
    }

    /// Writes a content somewhere, and looks whether it is still the one that was kept.
    ///
    /// # Errors
    /// When it is not there, is damaged, or cannot be written.
    pub fn copy(&self, hash: &Digest, to: &mut impl Write) -> Result<u64, TreeError> {
        let path = self.dir.join("data");
        let damaged = |detail: String| TreeError::Damaged {
            path: path.clone(),
            detail,
        };
        let range = self.known.get(hash);
        let range = range.ok_or_else(|| damaged(format!("it has no content {}", hash.short())))?;
        let (mut hasher, mut done) = (Hasher::default(), 0);
        let mut buffer = vec![0; CHUNK];
        while done < range.size {
            let most = usize::try_from(range.size - done)
                .unwrap_or(CHUNK)
                .min(CHUNK);
            let read = self
                .data
                .read_exact_at(&mut buffer[..most], range.at + done);
            read.map_err(TreeError::io(&path))?;
            hasher.add(&buffer[..most]);
            to.write_all(&buffer[..most])
                .map_err(TreeError::io(&path))?;
            done += most as u64;
        }
        match hasher.end() == *hash {
            true => Ok(done),
            false => Err(damaged(format!("content {} is another one", hash.short()))),
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = (Digest, Range)> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = str::from_utf8(line).ok()?.split(' ');
        let hash = words.next()?.parse().ok()?;
        let (at, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((hash, Range { at, size }))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn content(contents: &Contents, hash: &Digest) -> Result<Vec<u8>, TreeError> {
        let mut bytes = Vec::new();
        contents.copy(hash, &mut bytes).map(|_| bytes)
    }

    fn kept(contents: &mut Contents, bytes: &[u8]) -> (Digest, u64) {
        contents.keep(bytes).unwrap().unwrap()
    }

    #[test]
    fn each_content_is_kept_once_and_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let mut contents = Contents::open(dir.path()).unwrap();
        let long = vec![b'x'; 3 * CHUNK + 7];
        let all: [&[u8]; 4] = [b"one", b"", &long, &long[..CHUNK]];
        let hashes = all.map(|bytes| kept(&mut contents, bytes).0);
        let size = contents.end;
        for (bytes, hash) in all.iter().zip(&hashes) {
            assert_eq!(*hash, Digest::of(bytes));
            assert_eq!(kept(&mut contents, bytes), (*hash, bytes.len() as u64));
        }
        assert_eq!(contents.end, size, "known ones are not written again");
        contents.flush().unwrap();
        let again = Contents::open(dir.path()).unwrap();
        for (bytes, hash) in all.iter().zip(&hashes) {
            assert_eq!(content(&again, hash).unwrap(), *bytes);
        }
    }

    #[test]
    fn what_a_killed_process_had_not_told_of_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let mut contents = Contents::open(dir.path()).unwrap();
        let (first, _) = kept(&mut contents, b"kept");
        contents.flush().unwrap();
        let (lost, _) = kept(&mut contents, b"lost");
        drop(contents);
        let index = dir.path().join("index");
        let mut text = fs::read(&index).unwrap();
        text.extend(&text.clone()[..40]);
        fs::write(&index, text).unwrap();

        let mut contents = Contents::open(dir.path()).unwrap();
        assert!(contents.has(&first) && !contents.has(&lost));
        let (new, _) = kept(&mut contents, b"new content");
        contents.flush().unwrap();
        let again = Contents::open(dir.path()).unwrap();
        assert_eq!(content(&again, &new).unwrap(), b"new content");
        assert_eq!(content(&again, &first).unwrap(), b"kept");
    }

    #[test]
    fn a_content_that_was_tampered_with_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut contents = Contents::open(dir.path()).unwrap();
        let (hash, _) = kept(&mut contents, b"original");
        contents.data.write_all_at(b"O", 0).unwrap();
        let error = content(&contents, &hash).unwrap_err();
        assert!(matches!(error, TreeError::Damaged { .. }), "{error}");
        let error = content(&contents, &Digest::of(b"none")).unwrap_err();
        assert!(matches!(error, TreeError::Damaged { .. }), "{error}");
    }
}
