//! A git index (gitformat-index(5)): what it says of each path, and one put together of two. No git runs.

use std::collections::{BTreeMap, BTreeSet};

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// The one extension that says where other entries are: of a split index.
const LINK: &[u8] = b"link";
/// Of the flags of an entry: how long its name is, as far as that fits.
const LENGTH: u16 = 0x0fff;
/// Which of the sides of a merge it is.
const STAGE: u16 = 0x3000;
/// More flags follow.
const EXTENDED: u16 = 0x4000;
/// Bytes of what the system said of the file, before the hash.
const STAT: usize = 40;
/// Where the mode stands in them.
const MODE: std::ops::Range<usize> = 24..28;

/// An index. Of a file that is not there, one without entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Bytes of a hash: names are SHA-1 or SHA-256. None where there are no entries to tell it by.
    hash: Option<usize>,
    entries: Vec<IndexEntry>,
    /// The name of the index that it is the rest of.
    pub shared: Option<String>,
    /// It has what is to be understood by whoever reads its entries: it is split, or sparse.
    pub is_partial: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct IndexEntry {
    path: Vec<u8>,
    /// What the system said of the file, and the hash.
    fixed: Vec<u8>,
    flags: u16,
    more: u16,
}

/// What git takes from an entry, whatever the system says of the file: mode, hash, and flags: which side of a merge it is,
/// and the marks that a person sets.
type Says<'e> = (&'e [u8], &'e [u8], u16, u16);

impl IndexEntry {
    fn says(&self) -> Says<'_> {
        let flags = self.flags & !(LENGTH | EXTENDED);
        (&self.fixed[MODE], &self.fixed[STAT..], flags, self.more)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let begin = bytes.len();
        let length = u16::try_from(self.path.len()).unwrap_or(LENGTH).min(LENGTH);
        let extended = if self.more == 0 { 0 } else { EXTENDED };
        let flags = self.flags & !(LENGTH | EXTENDED) | length | extended;
        bytes.extend_from_slice(&self.fixed);
        bytes.extend_from_slice(&flags.to_be_bytes());
        if self.more != 0 {
            bytes.extend_from_slice(&self.more.to_be_bytes());
        }
        bytes.extend_from_slice(&self.path);
        // One to eight NULs.
        let written = bytes.len() - begin;
        bytes.resize(begin + (written + 1).next_multiple_of(8), 0);
    }
}

impl Index {
    /// That of these bytes; `None` for what is none. The file does not say which hashes it has, but only one of them leads
    /// to its end.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        [20, 32]
            .into_iter()
            .find_map(|hash| Self::read(bytes, hash))
    }

    fn read(bytes: &[u8], hash: usize) -> Option<Self> {
        let body = bytes.get(..bytes.len().checked_sub(hash)?)?;
        let mut rest = body.strip_prefix(b"DIRC")?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        let mut entries: Vec<IndexEntry> = Vec::new();
        for _ in 0..count {
            let last = entries.last().map_or(&[][..], |entry| &entry.path);
            entries.push(entry(&mut rest, version, hash, last)?);
        }
        let (mut shared, mut is_partial) = (None, false);
        while !rest.is_empty() {
            let name = take(&mut rest, 4)?;
            let size = number(&mut rest)? as usize;
            let data = take(&mut rest, size)?;
            // What need not be understood begins with a capital letter.
            is_partial |= !name[0].is_ascii_uppercase();
            if name == LINK {
                let name = data.get(..hash)?;
                shared = Some(name.iter().map(|byte| format!("{byte:02x}")).collect());
            }
        }
        Some(Self {
            hash: Some(hash),
            entries,
            shared,
            is_partial,
        })
    }

    /// Every path that it has.
    pub fn into_paths(self) -> BTreeSet<Vec<u8>> {
        self.entries.into_iter().map(|entry| entry.path).collect()
    }

    /// The paths of which another one does not say the same.
    pub fn differs(&self, other: &Self) -> BTreeSet<Vec<u8>> {
        let (ours, theirs) = (self.by_path(), other.by_path());
        let all = ours.keys().chain(theirs.keys());
        all.filter(|path| ours.get(*path) != theirs.get(*path))
            .map(|path| path.to_vec())
            .collect()
    }

    fn by_path(&self) -> BTreeMap<&[u8], Vec<Says<'_>>> {
        let mut all: BTreeMap<&[u8], Vec<_>> = BTreeMap::new();
        for entry in &self.entries {
            all.entry(&entry.path).or_default().push(entry.says());
        }
        all
    }

    /// Whether a person marked what it says of a path: it is to be added, or not to be looked at.
    pub fn is_marked(&self, path: &[u8]) -> bool {
        let mut entries = self.entries.iter().filter(|entry| entry.path == path);
        entries.any(|entry| entry.more != 0 || entry.flags & !(LENGTH | EXTENDED) != 0)
    }

    /// What another one says of the paths that are taken from it, and this one of all others; with the paths of the other
    /// one that have no room then, as a file cannot be a directory. `None` where the two cannot be put together.
    pub fn with(
        &self,
        other: &Self,
        is_taken: impl Fn(&[u8]) -> bool,
    ) -> Option<(Self, BTreeSet<Vec<u8>>)> {
        let is_unlike = self.hash.zip(other.hash).is_some_and(|(a, b)| a != b);
        if is_unlike || self.is_partial || other.is_partial {
            return None;
        }
        let stays = self.entries.iter().filter(|entry| !is_taken(&entry.path));
        let mut entries: Vec<IndexEntry> = stays.cloned().collect();
        let files: BTreeSet<Vec<u8>> = entries.iter().map(|entry| entry.path.clone()).collect();
        let dirs: BTreeSet<&[u8]> = files.iter().flat_map(|path| dirs_of(path)).collect();
        let mut without = BTreeSet::new();
        for entry in other.entries.iter().filter(|entry| is_taken(&entry.path)) {
            let has_room = !dirs.contains(&entry.path[..])
                && !dirs_of(&entry.path).any(|dir| files.contains(dir));
            match has_room {
                true => entries.push(entry.clone()),
                false => drop(without.insert(entry.path.clone())),
            }
        }
        entries.sort_by(|a, b| (&a.path, a.flags & STAGE).cmp(&(&b.path, b.flags & STAGE)));
        let both = Self {
            hash: self.hash.or(other.hash),
            entries,
            ..Self::default()
        };
        Some((both, without))
    }

    /// Its bytes; none where it has no entry, as of a file that is not there.
    pub fn bytes(&self) -> Vec<u8> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let is_extended = self.entries.iter().any(|entry| entry.more != 0);
        let version: u32 = if is_extended { 3 } else { 2 };
        let count = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let mut bytes = b"DIRC".to_vec();
        bytes.extend_from_slice(&version.to_be_bytes());
        bytes.extend_from_slice(&count.to_be_bytes());
        for entry in &self.entries {
            entry.write(&mut bytes);
        }
        let sum = match self.hash {
            Some(32) => Sha256::digest(&bytes).to_vec(),
            _ => Sha1::digest(&bytes).to_vec(),
        };
        bytes.extend_from_slice(&sum);
        bytes
    }
}

/// The directories above a path.
fn dirs_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at])
}

/// The next entry.
fn entry(rest: &mut &[u8], version: u32, hash: usize, last: &[u8]) -> Option<IndexEntry> {
    let whole = *rest;
    let fixed = take(rest, STAT + hash)?.to_vec();
    let flags = short(rest)?;
    let more = match version >= 3 && flags & EXTENDED != 0 {
        true => short(rest)?,
        false => 0,
    };
    let path = match version {
        2 | 3 => {
            let path = until_nul(rest)?;
            // One to eight NULs end it, so that the next one begins at a multiple of eight.
            let read = whole.len() - rest.len();
            take(rest, read.next_multiple_of(8) - read)?;
            path.to_vec()
        }
        4 => {
            let kept = last.len().checked_sub(varint(rest)?)?;
            [&last[..kept], until_nul(rest)?].concat()
        }
        _ => return None,
    };
    Some(IndexEntry {
        path,
        fixed,
        flags,
        more,
    })
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

fn short(rest: &mut &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(take(rest, 2)?.try_into().ok()?))
}

fn until_nul<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let at = rest.iter().position(|byte| *byte == 0)?;
    let text = take(rest, at)?;
    take(rest, 1)?;
    Some(text)
}

/// A number as in the offsets of packs.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for _ in 0..8 {
        let byte = take(rest, 1)?[0];
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value += 1;
    }
    None
}
