//! The names in a git index (gitformat-index(5)). Nothing else of it is read, and no git runs.

use std::collections::BTreeSet;
use std::path::Path;

use super::git_dir::{GitDir, read_plain};

/// Bytes of an index: ten million files are less.
const INDEX: u64 = 1 << 30;
/// The one thing of an index that says where others are: a split index.
const LINK: &[u8] = b"link";

/// Every path that the index of a repository has, from the top of its work tree. What cannot be read has
/// none: then ignore rules count for all files.
#[must_use]
pub(crate) fn tracked(git: &GitDir) -> BTreeSet<Vec<u8>> {
    let Some(bytes) = plain(&git.index()) else {
        return BTreeSet::new();
    };
    let Some(index) = parse(&bytes) else {
        return BTreeSet::new();
    };
    let mut paths = index.paths;
    if let Some(shared) = index.shared {
        // What the split index takes out of the shared one stays in here: it is there no more, or it
        // counts where it need not.
        let shared = plain(&git.dir.join(format!("sharedindex.{shared}")));
        paths.extend(
            shared
                .and_then(|bytes| Some(parse(&bytes)?.paths))
                .unwrap_or_default(),
        );
    }
    paths.remove(b"".as_slice());
    paths
}

fn plain(path: &Path) -> Option<Vec<u8>> {
    read_plain(path, INDEX).ok()?
}

struct Index {
    paths: BTreeSet<Vec<u8>>,
    /// The name of the index that it is the rest of.
    shared: Option<String>,
}

/// Names are SHA-1 or SHA-256; the file does not say which, but only one of them leads to its end.
fn parse(bytes: &[u8]) -> Option<Index> {
    [20, 32].into_iter().find_map(|hash| parse_as(bytes, hash))
}

fn parse_as(bytes: &[u8], hash: usize) -> Option<Index> {
    let body = bytes.get(..bytes.len().checked_sub(hash)?)?;
    let mut rest = body.strip_prefix(b"DIRC")?;
    let version = number(&mut rest)?;
    let count = number(&mut rest)?;
    let mut paths = BTreeSet::new();
    let mut last = Vec::new();
    for _ in 0..count {
        last = entry(&mut rest, version, hash, &last)?;
        paths.insert(last.clone());
    }
    let mut shared = None;
    while !rest.is_empty() {
        let name = take(&mut rest, 4)?;
        let size = number(&mut rest)? as usize;
        let data = take(&mut rest, size)?;
        if name == LINK {
            let name = data.get(..hash)?;
            shared = Some(name.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    Some(Index { paths, shared })
}

/// The name of the next entry.
fn entry(rest: &mut &[u8], version: u32, hash: usize, last: &[u8]) -> Option<Vec<u8>> {
    let whole = *rest;
    take(rest, 40 + hash)?;
    let flags = short(rest)?;
    if version >= 3 && flags & 0x4000 != 0 {
        take(rest, 2)?;
    }
    match version {
        2 | 3 => {
            let path = until_nul(rest)?;
            // One to eight NULs end it, so that the next one begins at a multiple of eight.
            let read = whole.len() - rest.len();
            take(rest, read.next_multiple_of(8) - read)?;
            Some(path.to_vec())
        }
        4 => {
            let kept = last.len().checked_sub(varint(rest)?)?;
            Some([&last[..kept], until_nul(rest)?].concat())
        }
        _ => None,
    }
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
    for at in 0..8 {
        let byte = take(rest, 1)?[0];
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        debug_assert!(at < 8);
        value += 1;
    }
    None
}
