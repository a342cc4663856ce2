//! What differs between two snapshots.

use std::collections::BTreeMap;
use std::fmt;

use super::entry::{Entry, What};
use super::path::TreePath;
use super::snapshot::Snapshot;

/// What became of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: TreePath,
    /// What stood there; `None` for nothing.
    pub before: Option<Entry>,
    /// What stands there; `None` for nothing.
    pub after: Option<Entry>,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Something came where there was nothing.
    Added,
    /// It went.
    Deleted,
    /// Another kind of thing stands there: a link where there was a file.
    Replaced,
    /// Another content, or another target of a link.
    Content,
    /// Only the mode.
    Mode,
}

impl Change {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(before), Some(after)) if before.what == after.what => ChangeKind::Mode,
            (Some(before), Some(after)) if alike(&before.what, &after.what) => ChangeKind::Content,
            _ => ChangeKind::Replaced,
        }
    }

    /// Whether only directories are concerned.
    #[must_use]
    pub fn is_of_dirs(&self) -> bool {
        let is_dir = |entry: &Option<Entry>| entry.as_ref().is_none_or(Entry::is_dir);
        is_dir(&self.before) && is_dir(&self.after)
    }
}

fn alike(one: &What, other: &What) -> bool {
    let is_file = |what: &What| matches!(what, What::File { .. } | What::Unread { .. });
    is_file(one) && is_file(other) || matches!((one, other), (What::Link { .. }, What::Link { .. }))
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Replaced => "replaced",
            Self::Content => "changed",
            Self::Mode => "mode changed",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.kind())
    }
}

impl Snapshot {
    /// What is not the same afterwards, in the order of the paths.
    #[must_use]
    pub fn changes(&self, after: &Self) -> Vec<Change> {
        let (mut old, mut new) = (self.entries().peekable(), after.entries().peekable());
        let mut changes = Vec::new();
        loop {
            let path = match (old.peek(), new.peek()) {
                (Some((old, _)), Some((new, _))) => (*old).min(*new).clone(),
                (Some((path, _)), None) | (None, Some((path, _))) => (*path).clone(),
                (None, None) => return changes,
            };
            let before = old.next_if(|(at, _)| **at == path).map(|(_, entry)| entry);
            let after = new.next_if(|(at, _)| **at == path).map(|(_, entry)| entry);
            if before != after {
                changes.push(Change {
                    path,
                    before: before.cloned(),
                    after: after.cloned(),
                });
            }
        }
    }
}

/// Files of these changes that were only given another name: where each was, and where it is.
#[must_use]
pub fn renames(changes: &[Change]) -> Vec<(&TreePath, &TreePath)> {
    let content = |entry: &Option<Entry>| entry.as_ref().and_then(Entry::content).copied();
    let gone = changes.iter().filter(|change| change.after.is_none());
    let mut gone: BTreeMap<_, _> = gone
        .filter_map(|change| Some((content(&change.before)?, &change.path)))
        .collect();
    let came = changes.iter().filter(|change| change.before.is_none());
    came.filter_map(|change| Some((gone.remove(&content(&change.after)?)?, &change.path)))
        .collect()
}
