//! A checkout that stands on that of another commit becomes one of its own: only what differs is written.
//!
//! Git goes by the content of a file as it is in the commit. What a checkout makes of it, its line ends or its
//! encoding, is said by the attributes (gitattributes(5)): where these differ, so may every file, and all are written.

use std::path::Path;

use git2::{ObjectType, Oid, Repository, Tree};

use crate::git::Git;

/// What git is told by a program that names what was written, where that is nothing: `core.fsmonitor` is a
/// line for a shell, and the rest of the line are its arguments.
pub(crate) const NOTHING_WRITTEN: &str = "printf 'carson\\0' ; :";

/// The name of a file with attributes.
const ATTRIBUTES: &[u8] = b".gitattributes";

/// Pairs of directories that are compared before all files are written anyway.
const MOST: usize = 100_000;

/// What git does for it, one behind the other, in the worktree at `tree`, whose directory of git's own is `admin`; its
/// index says what is there, and its `HEAD` is at the commit.
pub(crate) fn force(admin: &Path, tree: &Path, every_file: bool) -> Vec<Git> {
    let here = |verb| Git::new(admin, verb).env("GIT_WORK_TREE", tree).at(tree);
    // It looks at no file and no directory that both have, and what a setup left goes out of the way.
    let force = here("checkout").args(["--force", "--quiet"]);
    // The sum of a large index is most of what it takes to write one.
    let force = force.config("index.skipHash", "true");
    let mut all = vec![force.config("core.fsmonitor", NOTHING_WRITTEN)];
    if every_file {
        let believe = here("update-index").args(["-q", "--refresh"]);
        all.extend([
            // An index that knows of no file: none is passed over.
            here("read-tree").arg("--empty"),
            here("read-tree").arg("HEAD"),
            here("checkout-index").args(["--force", "--all", "--index", "--quiet"]),
            believe.config("core.fsmonitor", NOTHING_WRITTEN),
        ]);
    }
    all
}

/// Whether two commits say different things of files that both may have. What cannot be compared may.
pub(crate) fn attributes_differ(repo: &Repository, one: Oid, other: Oid) -> bool {
    let tree = |commit| repo.find_commit(commit).and_then(|commit| commit.tree());
    let differ = || {
        let mut todo = vec![(tree(one)?, tree(other)?)];
        let mut met = 0;
        while let Some((one, other)) = todo.pop() {
            met += 1;
            if met > MOST || has_other(&one, &other) || has_other(&other, &one) {
                return Ok(true);
            }
            for here in &one {
                let there = other.get_name_bytes(here.name_bytes());
                // What one of them alone has is written as its own attributes say.
                if let Some(there) = there.filter(|there| there.id() != here.id())
                    && [here.kind(), there.kind()] == [Some(ObjectType::Tree); 2]
                {
                    todo.push((repo.find_tree(here.id())?, repo.find_tree(there.id())?));
                }
            }
        }
        Ok::<_, git2::Error>(false)
    };
    differ().unwrap_or(true)
}

/// Whether the first has attributes that the second has not.
fn has_other(one: &Tree<'_>, other: &Tree<'_>) -> bool {
    let id = |tree: &Tree<'_>| tree.get_name_bytes(ATTRIBUTES).map(|entry| entry.id());
    id(one).is_some_and(|here| id(other) != Some(here))
}

#[cfg(test)]
mod tests {
    use git2::build::TreeUpdateBuilder;
    use git2::{FileMode, Signature};

    use super::*;

    fn commit(repo: &Repository, files: &[(&str, &str)]) -> Oid {
        let mut update = TreeUpdateBuilder::new();
        for (path, text) in files {
            let blob = repo.blob(text.as_bytes()).unwrap();
            update.upsert(*path, blob, FileMode::Blob);
        }
        let empty = repo.treebuilder(None).unwrap().write().unwrap();
        let empty = repo.find_tree(empty).unwrap();
        let tree = update.create_updated(repo, &empty).unwrap();
        let tree = repo.find_tree(tree).unwrap();
        let who = Signature::now("x", "x@localhost").unwrap();
        repo.commit(None, &who, &who, "x", &tree, &[]).unwrap()
    }

    #[test]
    fn attributes_of_files_that_both_have_differ() {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        let base = [("a/f", "1"), ("a/.gitattributes", "* text"), ("b/g", "1")];
        let one = commit(&repo, &base);
        let with = |more: &[(&'static str, &'static str)]| {
            let mut files: std::collections::BTreeMap<_, _> = base.into_iter().collect();
            files.extend(more.iter().copied());
            files.retain(|_, text| !text.is_empty());
            commit(&repo, &files.into_iter().collect::<Vec<_>>())
        };
        for (more, differs) in [
            (&[("a/f", "2")][..], false),
            // All files of a new directory are written.
            (&[("c/.gitattributes", "* -text"), ("c/h", "1")], false),
            (&[("a/.gitattributes", "* -text")], true),
            (&[("a/.gitattributes", "")], true),
            (&[("b/.gitattributes", "* -text")], true),
            (&[(".gitattributes", "* -text")], true),
        ] {
            assert_eq!(
                attributes_differ(&repo, one, with(more)),
                differs,
                "{more:?}"
            );
        }
        assert!(attributes_differ(&repo, one, Oid::ZERO_SHA1), "not there");
    }
}
