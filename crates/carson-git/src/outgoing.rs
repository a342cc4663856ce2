//! What a push of a firing's branch would make visible: every commit of it, not only the result.

use std::collections::HashSet;
use std::path::PathBuf;

use git2::{Commit, Delta, Diff, DiffFindOptions, DiffOptions, ObjectType, Odb, Repository, Sort};

use crate::error::GitError;
use crate::oid::Oid;
use crate::worktree::Worktree;

/// Something that one commit brings.
#[derive(Clone, Copy, Debug)]
pub struct Brought<'b> {
    /// The commit.
    pub commit: &'b Oid,
    /// Where in it.
    pub part: Part<'b>,
    /// What was not there before. Of a file, the lines that were added.
    pub text: &'b [u8],
    /// What the commit took away in the same place: whoever changes a line writes it again.
    pub gone: &'b [u8],
}

/// A part of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// Its message and its authors.
    Message,
    /// The name of a file.
    Name,
    /// What is in a file.
    File(&'b str),
}

/// What was handed to whoever looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// Commits.
    pub commits: u32,
    /// Bytes.
    pub bytes: u64,
    /// Whether it was too much, and something was not handed on.
    pub cut: bool,
}

impl Worktree {
    /// Hands on everything that the branch has and the remote does not, up to `max_bytes` in all:
    /// of each commit the message, the names of its files, and the lines that it adds. Binary files
    /// are read as text, and no attribute of the repository has a say.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn outgoing(
        &self,
        max_bytes: u64,
        look: impl FnMut(&Brought<'_>) + Send + 'static,
    ) -> Result<Outgoing, GitError> {
        let (tip, base) = (self.tip().await?.git2(), self.base.git2());
        let mut reading = Reading {
            look,
            max_bytes,
            outgoing: Outgoing::default(),
        };
        let read = move |repo: &Repository| {
            let mut walk = repo.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.push(tip)?;
            walk.hide_glob("refs/remotes/origin/*")?;
            walk.hide(base)?;
            for found in walk {
                reading.commit(repo, &repo.find_commit(found?)?)?;
            }
            Ok(reading.outgoing)
        };
        self.mirror.read(read).await
    }
}

struct Reading<L> {
    look: L,
    max_bytes: u64,
    outgoing: Outgoing,
}

impl<L: FnMut(&Brought<'_>)> Reading<L> {
    fn commit(&mut self, repo: &Repository, commit: &Commit<'_>) -> Result<(), git2::Error> {
        self.outgoing.commits += 1;
        let oid = Oid::from(commit.id());
        let header = [
            commit.raw_header_bytes(),
            b"\n\n",
            commit.message_raw_bytes(),
        ]
        .concat();
        self.hand_on(&oid, Part::Message, &header, &[]);
        let tree = commit.tree()?;
        // Of a merge, what is new to all its parents: the rest was looked at with them.
        let mut seen: Option<HashSet<PathBuf>> = None;
        for parent in commit.parents().skip(1) {
            let diff = repo.diff_tree_to_tree(Some(&parent.tree()?), Some(&tree), None)?;
            let changed = diff
                .deltas()
                .filter_map(|delta| delta.new_file().path().map(PathBuf::from));
            let changed: HashSet<PathBuf> = changed.collect();
            seen = Some(match seen {
                Some(before) => before.intersection(&changed).cloned().collect(),
                None => changed,
            });
        }
        let first = match commit.parent_count() {
            0 => None,
            _ => Some(commit.parent(0)?.tree()?),
        };
        let mut options = DiffOptions::new();
        options.force_text(true).context_lines(0).max_size(i64::MAX);
        let mut diff = repo.diff_tree_to_tree(first.as_ref(), Some(&tree), Some(&mut options))?;
        // A file that moved brings nothing.
        diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
        self.files(&repo.odb()?, &oid, &diff, seen.as_ref())
    }

    fn files(
        &mut self,
        objects: &Odb<'_>,
        commit: &Oid,
        diff: &Diff<'_>,
        only: Option<&HashSet<PathBuf>>,
    ) -> Result<(), git2::Error> {
        for (at, delta) in diff.deltas().enumerate() {
            let path = delta.new_file().path().unwrap_or(std::path::Path::new(""));
            if delta.status() == Delta::Deleted || only.is_some_and(|only| !only.contains(path)) {
                continue;
            }
            let name = delta.new_file().path_bytes().unwrap_or_default();
            if delta.old_file().path_bytes() != Some(name) || delta.status() == Delta::Added {
                self.hand_on(commit, Part::Name, name, &[]);
            }
            // Before it is read: a file as large as the memory must not be.
            if self
                .outgoing
                .bytes
                .saturating_add(size(objects, delta.new_file().id()))
                > self.max_bytes
            {
                self.outgoing.cut = true;
                continue;
            }
            let (added, gone) = lines(diff, at)?;
            let name = String::from_utf8_lossy(name).into_owned();
            self.hand_on(commit, Part::File(&name), &added, &gone);
        }
        Ok(())
    }

    fn hand_on(&mut self, commit: &Oid, part: Part<'_>, text: &[u8], gone: &[u8]) {
        self.outgoing.bytes = self.outgoing.bytes.saturating_add(text.len() as u64);
        if self.outgoing.bytes > self.max_bytes {
            self.outgoing.cut = true;
            return;
        }
        (self.look)(&Brought {
            commit,
            part,
            text,
            gone,
        });
    }
}

/// Size of a file's content; a repository inside has none.
fn size(objects: &Odb<'_>, oid: git2::Oid) -> u64 {
    match objects.read_header(oid) {
        Ok((size, ObjectType::Blob)) => size as u64,
        _ => 0,
    }
}

/// The lines that one file of a diff got and lost.
fn lines(diff: &Diff<'_>, at: usize) -> Result<(Vec<u8>, Vec<u8>), git2::Error> {
    let (mut added, mut gone) = (Vec::new(), Vec::new());
    let Some(patch) = git2::Patch::from_diff(diff, at)? else {
        return Ok((added, gone));
    };
    for hunk in 0..patch.num_hunks() {
        for line in 0..patch.num_lines_in_hunk(hunk)? {
            let line = patch.line_in_hunk(hunk, line)?;
            match line.origin() {
                '+' => added.extend_from_slice(line.content()),
                '-' => gone.extend_from_slice(line.content()),
                _ => {}
            }
        }
    }
    Ok((added, gone))
}

#[cfg(test)]
mod tests;
