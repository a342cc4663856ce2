//! Refs that are not a run's to watch and to undo: those that a fetch moves, and the branches that other work trees of the
//! repository have checked out or keep. Who works there works on while this run does.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::{Refs, is_of_commits};
use crate::tree::{Change, TreePath};

/// Where what a fetch brings stands.
const FETCHED: [&str; 2] = ["refs/remotes/", "refs/prefetch/"];

/// Where what was undone is kept.
const KEPT: &str = "refs/carson/stories/";

/// Them, between two looks at the refs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Branches, and what others kept meanwhile.
    branches: BTreeSet<String>,
    /// Whether git knows the refs, so that those of a file that has many are put back one by one.
    answers: bool,
}

impl Others {
    /// Those of a work tree that was there before count: what it had checked out, and what it has. `after` is `None` where
    /// git does not answer any more: then every ref that was packed is put back as it was.
    #[must_use]
    pub fn between(before: &Refs, after: Option<&Refs>) -> Self {
        let now = after.map(|after| &after.elsewhere);
        let now = now.into_iter().flatten();
        let now = now.filter(|(tree, _)| before.elsewhere.contains_key(*tree));
        let all = before.elsewhere.iter().chain(now);
        let mut branches: BTreeSet<String> = all.filter_map(|(_, branch)| branch.clone()).collect();
        // A run in another work tree keeps what it undid, too.
        let kept = after.into_iter().flat_map(|after| after.all.keys());
        let kept = kept.filter(|name| name.starts_with(KEPT) && !before.all.contains_key(*name));
        branches.extend(kept.cloned());
        // What is checked out here is ours, whoever else has it.
        if let Some(own) = before.branch() {
            branches.remove(own);
        }
        Self {
            branches,
            answers: after.is_some(),
        }
    }

    /// Whether a ref is one.
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        FETCHED.iter().any(|first| name.starts_with(first)) || self.branches.contains(name)
    }

    /// Whether a repository is what it was, but for them.
    #[must_use]
    pub fn same(&self, one: &Refs, other: &Refs) -> bool {
        let is_same = |a: &Refs, b: &Refs| {
            (&a.dot_git, &a.head, &a.commit, &a.stashes)
                == (&b.dot_git, &b.head, &b.commit, &b.stashes)
        };
        is_same(one, other) && self.own(&one.all).eq(self.own(&other.all))
    }

    /// The refs that are ours.
    pub fn own<'r>(
        &self,
        all: &'r BTreeMap<String, String>,
    ) -> impl Iterator<Item = (&'r String, &'r String)> {
        all.iter().filter(|(name, _)| !self.have(name))
    }

    /// Whether a change in git's own directory stays where files are put back: one of theirs; of a file that has many refs,
    /// which git puts back one by one; a directory of refs.
    #[must_use]
    pub fn leave(&self, change: &Change) -> bool {
        if change.is_of_dirs() {
            return change.before.is_none() && may_stay(change);
        }
        if !is_of_commits(change) {
            return false;
        }
        let name = String::from_utf8_lossy(change.path.as_bytes());
        // A lock that came is of a git that was ended: nobody else's holds one for long.
        if name.ends_with(".lock") {
            return false;
        }
        self.have(&name) || self.answers && has_many(&change.path)
    }
}

/// Whether a change is one of the files that have one ref each.
#[must_use]
pub fn is_ref(change: &Change) -> bool {
    change.path.parts().next() == Some(b"refs")
}

/// Whether a new directory of refs, or of their logs, is one that git may look into, and that holds no ref by itself.
fn may_stay(change: &Change) -> bool {
    let first = change.path.parts().next();
    let is_gits = [Some(b"refs".as_slice()), Some(b"logs")].contains(&first);
    let after = change.after.as_ref();
    is_gits && after.is_some_and(|after| after.mode & 0o700 == 0o700)
}

/// Whether a file of git's has many refs.
fn has_many(path: &TreePath) -> bool {
    path.as_bytes() == b"packed-refs" || path.parts().next() == Some(b"reftable")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(head: &str, elsewhere: &[(&str, Option<&str>)]) -> Refs {
        let elsewhere = elsewhere.iter();
        Refs {
            head: head.to_owned(),
            elsewhere: elsewhere
                .map(|(tree, branch)| ((*tree).to_owned(), branch.map(str::to_owned)))
                .collect(),
            ..Refs::default()
        }
    }

    #[test]
    fn a_branch_of_a_work_tree_that_was_there_is_its_own_and_ours_is_ours() {
        let before = refs(
            "ref: refs/heads/wb",
            &[
                ("/main", Some("refs/heads/main")),
                ("/two", Some("refs/heads/wb")),
                ("/three", None),
            ],
        );
        let after = refs(
            "ref: refs/heads/wb",
            &[
                ("/main", Some("refs/heads/new")),
                ("/three", Some("refs/heads/rebased")),
                ("/made", Some("refs/heads/smuggled")),
            ],
        );
        let others = Others::between(&before, Some(&after));
        for (name, right) in [
            ("refs/heads/main", true),
            ("refs/heads/new", true),
            ("refs/heads/rebased", true),
            ("refs/remotes/origin/wb", true),
            ("refs/heads/wb", false),
            ("refs/heads/smuggled", false),
            ("refs/heads/remotes/x", false),
            ("refs/tags/v1", false),
            ("refs/stash", false),
        ] {
            assert_eq!(others.have(name), right, "{name}");
        }
    }
}
