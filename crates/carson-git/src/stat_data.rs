//! What an index says of the files of another place is made true for this one.
//!
//! git believes that a file is as its index has it when the notes of the file system are (size, times, inode,
//! owner). Those of a clone are others than those of what it was cloned from, and git would hash every
//! file to find that nothing changed. To have it compare less (`core.checkStat`, `core.trustctime`) would let
//! a session hide from it what it changed. So the notes are put into the copied index, in place: the rest of
//! it (the names of trees, and what git knows to be untouched) stays as git wrote it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sha1::{Digest as _, Sha1};

use crate::paths::path_of;

/// Bytes before the first entry (gitformat-index(5)).
const HEADER: usize = 12;
/// Bytes of an entry before its name: notes, object, flags.
const ENTRY: usize = 62;
/// Bytes of what the file system says.
const NOTES: usize = 40;
/// Bytes of the sum at the end.
const SUM: usize = 20;
/// The flag of an entry with more flags.
const EXTENDED: u16 = 0x4000;
/// What stands in the place of the type of an entry that is another repository.
const GITLINK: u32 = 0o160_000;

/// Copies an index to where it describes `tree`.
///
/// # Errors
/// When it cannot be read or written, is of a form that git does not write for us, or a file is missing.
pub(crate) fn copy_for(index: &Path, tree: &Path, to: &Path) -> io::Result<()> {
    let mut bytes = fs::read(index)?;
    describe(&mut bytes, |path| {
        tree.join(path_of(path)).symlink_metadata()
    })?;
    fs::write(to, bytes)
}

/// Puts what is found of each of its files into an index.
fn describe(
    bytes: &mut [u8],
    mut found: impl FnMut(&[u8]) -> io::Result<Metadata>,
) -> io::Result<()> {
    let body = bytes.len().checked_sub(SUM).ok_or_else(odd)?;
    let version = number(bytes, 4)?;
    if !bytes.starts_with(b"DIRC") || !matches!(version, 2 | 3) {
        return Err(odd());
    }
    let mut at = HEADER;
    for _ in 0..number(bytes, 8)? {
        let flags = bytes.get(at + ENTRY - 2..at + ENTRY).ok_or_else(odd)?;
        let more = u16::from_be_bytes([flags[0], flags[1]]) & EXTENDED != 0;
        let name = at + ENTRY + if more { 2 } else { 0 };
        let rest = bytes.get(name..body).ok_or_else(odd)?;
        let length = rest.iter().position(|byte| *byte == 0).ok_or_else(odd)?;
        if number(bytes, at + 24)? & 0o170_000 != GITLINK {
            let notes = notes_of(
                &found(&bytes[name..name + length])?,
                number(bytes, at + 24)?,
            );
            bytes[at..at + NOTES].copy_from_slice(&notes);
        }
        // Each entry ends with at least one zero, at a multiple of eight.
        at += (name - at + length + 8) & !7;
    }
    let sum = Sha1::digest(&bytes[..body]);
    bytes[body..].copy_from_slice(&sum);
    Ok(())
}

fn number(bytes: &[u8], at: usize) -> io::Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    Ok(u32::from_be_bytes(four.ok_or_else(odd)?))
}

/// In the order of the format. The mode is git's own.
fn notes_of(found: &Metadata, mode: u32) -> [u8; NOTES] {
    // The format has the lower 32 bits of each.
    let numbers = [
        found.ctime().cast_unsigned(),
        found.ctime_nsec().cast_unsigned(),
        found.mtime().cast_unsigned(),
        found.mtime_nsec().cast_unsigned(),
        found.dev(),
        found.ino(),
        u64::from(mode),
        u64::from(found.uid()),
        u64::from(found.gid()),
        found.size(),
    ];
    let mut notes = [0; NOTES];
    for (place, number) in notes.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_be_bytes()[4..]);
    }
    notes
}

fn odd() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the index is of another form")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{git, write};

    /// git says that nothing changed, and looks into no file to say so.
    #[test]
    fn git_believes_a_copy_of_the_tree_without_reading_it() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        fs::create_dir(&one).unwrap();
        git(&one, ["init", "--quiet", "--template="]);
        for (name, text) in [("a", "a\n"), ("deep/b", "b\n"), ("deep/long-name", "c\n")] {
            write(&one.join(name), text);
        }
        std::os::unix::fs::symlink("a", one.join("link")).unwrap();
        git(&one, ["add", "."]);
        // An entry with more flags makes the third form.
        git(&one, ["update-index", "--skip-worktree", "deep/b"]);
        fs::create_dir_all(two.join("deep")).unwrap();
        for name in ["a", "deep/b", "deep/long-name"] {
            fs::write(two.join(name), "?\n").unwrap();
        }
        std::os::unix::fs::symlink("a", two.join("link")).unwrap();
        // It is old enough to be believed: what git reads instead would be another file.
        let old = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
        for name in ["a", "deep/b", "deep/long-name"] {
            let file = fs::File::options().write(true).open(two.join(name));
            file.unwrap().set_times(old).unwrap();
        }
        let index = one.join(".git/index");
        copy_for(&index, &two, &dir.path().join("index")).unwrap();
        fs::rename(dir.path().join("index"), &index).unwrap();
        let status = git(
            &one,
            [
                "--work-tree",
                two.to_str().unwrap(),
                "diff-files",
                "--name-only",
            ],
        );
        assert_eq!(status, "", "what it reads differs, and it read nothing");
        git(&one, ["fsck", "--strict"]);
        let read = git2::Index::open(&index).unwrap();
        assert_eq!(read.len(), 4);
        // In the first place all of it differs.
        assert!(git(&one, ["diff-files", "--name-only"]).contains('a'));
    }

    #[test]
    fn other_forms_are_refused() {
        let found = |_: &[u8]| -> io::Result<Metadata> { Err(odd()) };
        let mut four = [b"DIRC\0\0\0\x04\0\0\0\0".as_slice(), &[0; SUM]].concat();
        describe(&mut four, found).unwrap_err();
        let mut none = [b"DIRC\0\0\0\x02\0\0\0\0".as_slice(), &[0; SUM]].concat();
        describe(&mut none, found).unwrap();
        let mut cut = [b"DIRC\0\0\0\x02\0\0\0\x01".as_slice(), &[0; SUM]].concat();
        describe(&mut cut, found).unwrap_err();
        describe(&mut [], found).unwrap_err();
    }
}
