//! What a session made, told in numbers and names, and written out for whoever searches it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use carson_core::leaving::is_ci_definition;
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};

use super::closing::closes;
use super::gather::new_commits;
use super::objects::Objects;
use super::outgoing::{Part, Writer};
use super::tree_diff::{At, Changed, changed};

/// Name of the record before what no commit has yet.
pub const UNCOMMITTED: &str = "uncommitted";
/// Bytes of files that went, or were changed, that are written out: they only excuse what looks
/// like a secret and was there before.
const GONE: u64 = 32 << 20;

/// Definitions of CI that are listed.
pub const CI_LISTED: usize = 20;

/// A part of a session's work: its commits, or what it left uncommitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Paths that were made or changed.
    pub paths: u64,
    /// Bytes of the files that it brings, each content once.
    pub bytes: u64,
    /// Definitions of CI that it makes, changes or removes: some of them, by their paths.
    pub ci: Vec<String>,
    /// Issues that its commits' messages would close once they are on the base, as they are written.
    #[serde(default)]
    pub closes: Vec<String>,
    /// Why it was not looked at in full: then nobody vouches for it.
    pub unseen: Option<String>,
}

/// Looks through commits and trees, and writes out what they bring.
pub(super) struct Changes<'o> {
    objects: &'o Objects,
    writer: Writer<BufWriter<File>>,
    files: HashSet<(Vec<u8>, Oid)>,
    contents: HashSet<Oid>,
    gone_left: u64,
}

impl<'o> Changes<'o> {
    /// Writes to `file` up to `most` bytes.
    pub(super) fn to(objects: &'o Objects, file: &Path, most: u64) -> Result<Self, String> {
        let made = File::create(file).map_err(|error| error.to_string())?;
        Ok(Self {
            objects,
            writer: Writer::new(BufWriter::new(made), most),
            files: HashSet::new(),
            contents: HashSet::new(),
            gone_left: GONE,
        })
    }

    /// The commits of a history that the base does not have.
    pub(super) fn commits(&mut self, tip: Oid, base: Oid) -> Change {
        let mut change = Change::default();
        let done = new_commits(self.objects, tip, base).and_then(|all| {
            all.into_iter()
                .try_for_each(|oid| self.commit(oid, &mut change))
        });
        self.seen(done, change)
    }

    /// What is not on the branch: the commits of `stray`, which neither the branch nor the base has, and
    /// trees that no commit has, beside one that is there. It leaves together, where it leaves at all.
    pub(super) fn left(&mut self, stray: &[Oid], trees: &[Oid], beside: Oid) -> Change {
        let mut change = Change::default();
        let begun = self.put(Part::Commit, UNCOMMITTED.as_bytes(), b"");
        let strayed = begun.and_then(|()| {
            stray
                .iter()
                .try_for_each(|oid| self.commit_content(*oid, &mut change))
        });
        let done = strayed.and_then(|()| {
            trees
                .iter()
                .try_for_each(|tree| self.tree(*tree, &[beside], &mut change))
        });
        self.seen(done, change)
    }

    fn seen(&self, done: Result<(), String>, mut change: Change) -> Change {
        change.unseen = match done {
            Err(why) => Some(why),
            Ok(()) if self.writer.cut => Some("it is too large to be searched".to_owned()),
            Ok(()) => None,
        };
        change
    }

    /// Whether everything was written.
    pub(super) fn finish(self) -> Result<(), String> {
        let done = self.writer.finish();
        done.map(drop).map_err(|error| error.to_string())
    }

    fn put(&mut self, part: Part, name: &[u8], text: &[u8]) -> Result<(), String> {
        let put: io::Result<()> = self.writer.put(part, name, text);
        put.map_err(|error| error.to_string())
    }

    fn commit(&mut self, oid: Oid, change: &mut Change) -> Result<(), String> {
        self.put(Part::Commit, oid.to_string().as_bytes(), b"")?;
        self.commit_content(oid, change)
    }

    fn commit_content(&mut self, oid: Oid, change: &mut Change) -> Result<(), String> {
        let commit = self.objects.commit(oid)?;
        let message = String::from_utf8_lossy(commit.message_raw_bytes());
        closes(&message, &mut change.closes);
        let header = [
            commit.raw_header_bytes(),
            b"\n\n",
            commit.message_raw_bytes(),
        ]
        .concat();
        self.put(Part::Message, b"", &header)?;
        let parents: Result<Vec<Oid>, String> = commit
            .parent_ids()
            .map(|parent| Ok(self.objects.commit(parent)?.tree_id()))
            .collect();
        self.tree(commit.tree_id(), &parents?, change)
    }

    fn tree(&mut self, tree: Oid, beside: &[Oid], change: &mut Change) -> Result<(), String> {
        let all = changed(self.objects, tree, beside)?;
        // First what went: it excuses what comes, wherever it comes.
        for one in &all {
            if let Some(old) = one.old {
                self.gone(one, old)?;
            }
        }
        for one in &all {
            let path = String::from_utf8_lossy(&one.path);
            if !one.is_dir() && is_ci_definition(&path) && change.ci.len() < CI_LISTED {
                change.ci.push(path.into_owned());
            }
            let Some(new) = one.new else { continue };
            change.paths += 1;
            if one.old.is_none() {
                self.put(Part::Name, &one.path, b"")?;
            }
            if !one.is_dir() {
                self.file(one, new, change)?;
            }
        }
        Ok(())
    }

    fn gone(&mut self, one: &Changed, old: At) -> Result<(), String> {
        let size = blob_size(self.objects, old).filter(|size| *size <= self.gone_left);
        // One that cannot be read excuses nothing.
        let Some((size, Ok(content))) = size.map(|size| (size, self.objects.content(old.0))) else {
            return Ok(());
        };
        self.gone_left -= size;
        let put = self.writer.beside(Part::Gone, &one.path, &content);
        put.map_err(|error| error.to_string())
    }

    fn file(&mut self, one: &Changed, new: At, change: &mut Change) -> Result<(), String> {
        let Some(size) = blob_size(self.objects, new) else {
            return Ok(());
        };
        if self.contents.insert(new.0) {
            change.bytes += size;
        }
        if !self.files.insert((one.path.clone(), new.0)) || self.writer.is_too_much(size) {
            return Ok(());
        }
        let content = self.objects.content(new.0)?;
        self.put(Part::File, &one.path, &content)
    }
}

/// The size of a file's content, before it is read; a submodule has none.
fn blob_size(objects: &Objects, (oid, _): At) -> Option<u64> {
    match objects.header(oid).ok()? {
        (size, ObjectType::Blob) => Some(size),
        _ => None,
    }
}

/// Bytes of the files that differ between two trees, each path counted: what a checkout writes.
pub(super) fn spread(objects: &Objects, old: Oid, new: Oid) -> Option<u64> {
    let all = changed(objects, new, &[old]).ok()?;
    let mut sizes =
        (all.iter().filter_map(|one| one.new)).map(|at| blob_size(objects, at).unwrap_or(0));
    sizes.try_fold(0, u64::checked_add)
}

#[cfg(test)]
mod tests;
