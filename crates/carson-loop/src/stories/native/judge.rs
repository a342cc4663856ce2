//! Whether what changed may have changed: a pure function of the changes and the story.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::acceptance::created;
use super::written::{Mode, Story};
use crate::stories::scope::{BadPattern, Gitignore};
use crate::tree::{Change, ChangeKind, TreePath, What};

/// Something that may not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// A change of something that the scope does not cover.
    Outside(TreePath, &'static str),
    /// A link that leads out of the tree.
    LeadsOut(TreePath),
    /// The plan was changed.
    Plan,
    /// A file of Carson's own was changed.
    Own(TreePath),
    /// A file of git's own was changed.
    Git(TreePath),
    /// `.git` itself was.
    DotGit,
    /// Something can no longer be looked at, and why.
    Unseen(String, String),
    /// Another ref than the branch was changed.
    Ref(String),
    /// Another branch was checked out.
    Switched(String),
    /// Commits that were there are gone from the branch.
    Rewritten,
    /// A commit changes something that the scope does not cover.
    Committed(TreePath),
    /// The index says something else of a file that the scope does not cover.
    Staged(TreePath, &'static str),
    /// Git was told not to look at a file any more.
    Hidden(TreePath),
    /// The index cannot be read any more.
    NoIndex,
    /// There are more commits than are looked at.
    TooManyCommits,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path, kind) => write!(f, "{path} ({kind}) is outside of its scope"),
            Self::LeadsOut(path) => write!(f, "{path} is a link that leads out of the tree"),
            Self::Plan => f.write_str("the plan was changed"),
            Self::Own(path) => write!(f, ".carson/{path} was changed"),
            Self::Git(path) => write!(f, ".git/{path} was changed"),
            Self::DotGit => f.write_str(".git was replaced"),
            Self::Unseen(path, why) => write!(f, "what is in {path} cannot be looked at: {why}"),
            Self::Ref(name) => write!(f, "{name} was changed"),
            Self::Switched(head) => write!(f, "HEAD was moved ({head})"),
            Self::Rewritten => {
                f.write_str("commits that were on the branch are not on it any more")
            }
            Self::Committed(path) => {
                write!(f, "a commit changes {path}, which is outside of its scope")
            }
            Self::Staged(path, kind) => {
                write!(f, "{path} ({kind} in the index) is outside of its scope")
            }
            Self::Hidden(path) => write!(
                f,
                "{path} was hidden from git (assume-unchanged, skip-worktree)"
            ),
            Self::NoIndex => f.write_str("the index cannot be read any more"),
            Self::TooManyCommits => f.write_str("it made more commits than are looked at"),
        }
    }
}

/// What a story may change.
#[derive(Clone, Debug)]
pub struct Allowed {
    scope: Gitignore,
    created: BTreeSet<PathBuf>,
}

impl Allowed {
    /// That of this story.
    ///
    /// # Errors
    /// When a pattern cannot be read: the plan was not checked.
    pub fn of(story: &Story) -> Result<Self, BadPattern> {
        let patterns: &[String] = match story.mode {
            Mode::Fix => &story.scope,
            Mode::Audit => &[],
        };
        let created = story
            .acceptance
            .iter()
            .filter_map(|line| created(line)?.ok());
        Ok(Self {
            scope: Gitignore::new(patterns).map_err(|(_, bad)| bad)?,
            created: created.collect(),
        })
    }

    /// The files that must be created.
    pub fn created(&self) -> impl Iterator<Item = &Path> {
        self.created.iter().map(PathBuf::as_path)
    }

    /// Whether it may change this file.
    #[must_use]
    pub fn covers(&self, path: &TreePath) -> bool {
        let is_covered = self.created.contains(path.as_path()) || self.scope.covers(path.as_path());
        is_covered && !is_of_a_repository(path)
    }

    /// Whether it may make or remove this directory: one that the scope covers, or one above a file that it may change and
    /// did.
    fn covers_dir(&self, path: &TreePath, changed: &[&TreePath]) -> bool {
        let is_covered = self.scope.covers_dir(path.as_path()) && !is_of_a_repository(path);
        is_covered || changed.iter().any(|file| file.is_in(path))
    }

    /// What of these changes it may not have made.
    #[must_use]
    pub fn violations(&self, changes: &[Change]) -> Vec<Violation> {
        let files = changes.iter().filter(|change| !change.is_of_dirs());
        let covered: Vec<&TreePath> = files
            .map(|change| &change.path)
            .filter(|path| self.covers(path))
            .collect();
        let mut found = Vec::new();
        for change in changes {
            let path = &change.path;
            let may = match change.is_of_dirs() {
                true => self.covers_dir(path, &covered),
                false => self.covers(path),
            };
            if !may {
                found.push(Violation::Outside(path.clone(), word(change)));
            } else if link_leads_out(change) {
                found.push(Violation::LeadsOut(path.clone()));
            }
        }
        found
    }
}

/// A repository's own file, of one that lies in the tree or of a submodule: it says what git runs there. On some file
/// systems `.GIT` is `.git`.
fn is_of_a_repository(path: &TreePath) -> bool {
    path.parts().any(|part| part.eq_ignore_ascii_case(b".git"))
}

fn word(change: &Change) -> &'static str {
    match change.kind() {
        ChangeKind::Added => "added",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Replaced => "replaced",
        ChangeKind::Content => "changed",
        ChangeKind::Mode => "mode changed",
    }
}

fn link_leads_out(change: &Change) -> bool {
    match change.after.as_ref().map(|entry| &entry.what) {
        Some(What::Link { to }) => leads_out(&change.path, &to.0),
        _ => false,
    }
}

/// Whether the way of a link there, by its words alone, ends above the top of the tree.
pub(super) fn leads_out(path: &TreePath, to: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let target = Path::new(std::ffi::OsStr::from_bytes(to));
    let mut depth = path.parts().count() as i64 - 1;
    for part in target.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
