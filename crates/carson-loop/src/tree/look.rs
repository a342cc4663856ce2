//! Looks at a tree: every entry once, no link followed, nothing opened that could hold us up.
//!
//! Directories are opened from the one above, so that a link that comes meanwhile leads nobody out.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use carson_core::Clock;
use carson_proc::Cancel;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, open, openat, readlinkat, statat};
use rustix::io::Errno;

use super::contents::Contents;
use super::entry::{Entry, Target, What};
use super::error::TreeError;
use super::path::TreePath;
use super::rules::{Here, PATTERNS, Rules, Verdict};
use super::snapshot::{Known, Missed, Snapshot};
use super::stat::{Print, times_are_kept};
use crate::digest::{Digest, Hasher};

/// What every file here is opened with.
const FLAGS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);
/// Directories one in the other that are entered; each is an open file.
const DEPTH: usize = 200;
/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// Things that are told as missed.
const MISSED: usize = 1_000;

/// How much of a tree is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Entries; more is an error.
    pub entries: usize,
    /// Bytes of a file that is read; a larger one is told from another by its times.
    pub file: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            file: 1 << 30,
        }
    }
}

/// A look at a tree, and what it may take as known.
#[derive(Debug)]
pub struct Look<'l> {
    /// The top of the tree.
    pub root: &'l Path,
    /// Which files count.
    pub rules: &'l Rules,
    /// How much.
    pub bounds: Bounds,
    /// An earlier snapshot: a file that is the same by what the file system says, in a way that nobody can
    /// forge, is not read again.
    pub before: Option<&'l Snapshot>,
    /// Ends it early.
    pub cancel: Option<&'l Cancel>,
}

impl<'l> Look<'l> {
    /// At all of it, with nothing known.
    #[must_use]
    pub fn at(root: &'l Path, rules: &'l Rules) -> Self {
        Self {
            root,
            rules,
            bounds: Bounds::default(),
            before: None,
            cancel: None,
        }
    }

    /// Looks.
    ///
    /// # Errors
    /// When the top cannot be opened, there is too much, or somebody asked to stop.
    pub fn snapshot(&self) -> Result<Snapshot, TreeError> {
        self.run(None)
    }

    /// Looks, and keeps the content of every file that is read.
    ///
    /// # Errors
    /// The same, and when a content cannot be kept.
    pub fn keeping(&self, contents: &mut Contents) -> Result<Snapshot, TreeError> {
        let seen = self.run(Some(contents))?;
        contents.flush()?;
        Ok(seen)
    }

    fn run(&self, contents: Option<&mut Contents>) -> Result<Snapshot, TreeError> {
        let flags = (FLAGS | OFlags::RDONLY | OFlags::DIRECTORY) - OFlags::NOFOLLOW;
        let top = open(self.root, flags, Mode::empty());
        let top = top.map_err(|error| TreeError::io(self.root)(error.into()))?;
        let now = Clock::system().now().timestamp_nanos_opt();
        let mut walk = Walk {
            look: self,
            contents,
            tracked: self.rules.tracked(),
            believes: times_are_kept(self.root),
            buffer: vec![0; CHUNK],
            seen: Snapshot {
                looked_at: now.unwrap_or(0),
                ..Snapshot::default()
            },
        };
        let here = self.rules.top(walk.ignore_file(&top));
        walk.dir(top, None, &here, 0)?;
        Ok(walk.seen)
    }
}

struct Walk<'w, 'l> {
    look: &'w Look<'l>,
    contents: Option<&'w mut Contents>,
    tracked: BTreeSet<TreePath>,
    /// Whether the times of files say whether they changed.
    believes: bool,
    buffer: Vec<u8>,
    seen: Snapshot,
}

impl Walk<'_, '_> {
    fn dir(
        &mut self,
        dir: OwnedFd,
        path: Option<&TreePath>,
        here: &Here,
        depth: usize,
    ) -> Result<(), TreeError> {
        if self.look.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(TreeError::Cancelled);
        }
        let names = match (names(&dir), path) {
            (Ok(names), _) => names,
            (Err(error), None) => return Err(TreeError::io(self.look.root)(error)),
            (Err(error), Some(path)) => {
                self.miss(path, &error);
                return Ok(());
            }
        };
        for name in names {
            let inner = TreePath::in_dir(path, &name);
            if name == b".git" {
                self.seen.repositories.insert(inner.clone());
            }
            let stat = match statat(&dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                // It went meanwhile.
                Err(Errno::NOENT) => continue,
                Err(error) => {
                    // Names can be read and nothing else: so it is with all of them.
                    self.miss(path.unwrap_or(&inner), &io::Error::from(error));
                    return Ok(());
                }
            };
            let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let verdict = self.look.rules.judge(here, &inner, is_dir, &self.tracked);
            if verdict == Verdict::Out {
                continue;
            }
            self.entry(&dir, &name, &inner, &stat)?;
            if is_dir {
                self.enter(&dir, &name, &inner, (here, verdict), depth + 1)?;
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        dir: &OwnedFd,
        name: &[u8],
        path: &TreePath,
        (here, verdict): (&Here, Verdict),
        depth: usize,
    ) -> Result<(), TreeError> {
        if depth > DEPTH {
            self.miss(path, &format!("it is more than {DEPTH} directories deep"));
            return Ok(());
        }
        let flags = FLAGS | OFlags::RDONLY | OFlags::DIRECTORY;
        match openat(dir, name, flags, Mode::empty()) {
            Ok(inner) => {
                let ignore = self.ignore_file(&inner);
                let here = self.look.rules.below(here, path, verdict, ignore);
                self.dir(inner, Some(path), &here, depth)
            }
            Err(error) => {
                self.miss(path, &io::Error::from(error));
                Ok(())
            }
        }
    }

    fn entry(
        &mut self,
        dir: &OwnedFd,
        name: &[u8],
        path: &TreePath,
        stat: &Stat,
    ) -> Result<(), TreeError> {
        if self.seen.entries.len() >= self.look.bounds.entries {
            return Err(TreeError::TooMany {
                root: self.look.root.to_owned(),
                most: self.look.bounds.entries,
            });
        }
        let print = Print::of(stat);
        let what = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(dir, name, path, &print)?,
            FileType::Symlink => match readlinkat(dir, name, Vec::new()) {
                Ok(to) => What::Link {
                    to: Target(to.into_bytes()),
                },
                // It went meanwhile.
                Err(_) => return Ok(()),
            },
            FileType::Directory => What::Dir,
            FileType::Fifo => What::Fifo,
            FileType::Socket => What::Socket,
            _ => What::Device,
        };
        #[cfg_attr(
            target_os = "linux",
            expect(
                clippy::useless_conversion,
                reason = "the types differ between systems"
            )
        )]
        let mode = match what {
            // The system has none for links, and says 0777.
            What::Link { .. } => 0o777,
            _ => u32::from(stat.st_mode) & 0o7777,
        };
        let known = Known {
            entry: Entry { what, mode },
            print: Some(print),
        };
        self.seen.entries.insert(path.clone(), known);
        Ok(())
    }

    fn file(
        &mut self,
        dir: &OwnedFd,
        name: &[u8],
        path: &TreePath,
        print: &Print,
    ) -> Result<What, TreeError> {
        if let Some(known) = self.known(path, print) {
            return Ok(known);
        }
        let unread = What::Unread {
            size: print.size(),
            changed: print.changed(),
        };
        if print.size() > self.look.bounds.file {
            let most = self.look.bounds.file >> 20;
            self.miss(path, &format!("it has more than {most} MiB"));
            return Ok(unread);
        }
        let opened = openat(dir, name, FLAGS | OFlags::RDONLY, Mode::empty());
        let read = match opened {
            Ok(file) => self.read(File::from(file))?,
            Err(error) => Err(error.into()),
        };
        Ok(match read {
            Ok((hash, size)) => What::File { size, hash },
            Err(error) => {
                self.miss(path, &error);
                unread
            }
        })
    }

    /// What was read of it before, if it is still that.
    fn known(&self, path: &TreePath, print: &Print) -> Option<What> {
        let before = self.look.before.filter(|_| self.believes)?;
        let known = before.entries.get(path)?;
        let hash = known.entry.content()?;
        let is_same = known.print.as_ref() == Some(print) && print.is_older_than(before.looked_at);
        let is_kept = self
            .contents
            .as_ref()
            .is_none_or(|contents| contents.has(hash));
        (is_same && is_kept).then(|| known.entry.what.clone())
    }

    fn read(&mut self, file: File) -> Result<io::Result<(Digest, u64)>, TreeError> {
        let file = file.take(self.look.bounds.file);
        match &mut self.contents {
            Some(contents) => contents.keep(file),
            None => Ok(hash(file, &mut self.buffer)),
        }
    }

    /// The text of the `.gitignore` in a directory, where it counts.
    fn ignore_file(&self, dir: &OwnedFd) -> Option<Vec<u8>> {
        if !self.look.rules.obeys() {
            return None;
        }
        let file = openat(dir, ".gitignore", FLAGS | OFlags::RDONLY, Mode::empty());
        let file = File::from(file.ok()?);
        let found = file.metadata().ok()?;
        if !found.is_file() || found.len() > PATTERNS {
            return None;
        }
        let mut text = Vec::new();
        file.take(PATTERNS).read_to_end(&mut text).ok()?;
        Some(text)
    }

    fn miss(&mut self, path: &TreePath, why: &impl ToString) {
        if self.seen.missed.len() < MISSED {
            self.seen.missed.push(Missed {
                path: path.clone(),
                why: why.to_string(),
            });
        }
    }
}

/// The names in a directory.
fn names(dir: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for item in Dir::read_from(dir)? {
        let item = item?;
        let name = item.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

fn hash(mut file: impl io::Read, buffer: &mut [u8]) -> io::Result<(Digest, u64)> {
    let (mut hasher, mut size) = (Hasher::default(), 0);
    loop {
        let read = file.read(buffer)?;
        if read == 0 {
            return Ok((hasher.end(), size));
        }
        hasher.add(&buffer[..read]);
        size += read as u64;
    }
}
