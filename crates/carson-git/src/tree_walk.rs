//! Everything in a tree, by its paths as bytes: libgit2's own walk ends with an error at a directory whose name is
//! no UTF-8, which a session may make.

use std::ops::ControlFlow;

use git2::{ObjectType, Oid, Repository, Tree};

/// Paths in one tree. A few small trees in one another name more than anybody could read.
const MOST: usize = 5_000_000;

/// Calls `each` with every entry that is no directory, in the order of their paths, until it breaks.
///
/// # Errors
/// When a directory cannot be read, or there are too many paths.
pub(crate) fn walk(
    repo: &Repository,
    top: &Tree<'_>,
    each: impl FnMut(&[u8], ObjectType, Oid) -> ControlFlow<()>,
) -> Result<(), git2::Error> {
    walk_bounded(repo, top, MOST, each)
}

fn walk_bounded(
    repo: &Repository,
    top: &Tree<'_>,
    most: usize,
    mut each: impl FnMut(&[u8], ObjectType, Oid) -> ControlFlow<()>,
) -> Result<(), git2::Error> {
    let mut todo = entries(top, b"");
    let mut met = 0;
    while let Some((path, kind, oid)) = todo.pop() {
        met += 1;
        if met > most {
            let much = format!("a tree has more than {most} paths");
            return Err(git2::Error::from_str(&much));
        }
        if kind == ObjectType::Tree {
            todo.extend(entries(
                &repo.find_tree(oid)?,
                &[&path, b"/".as_slice()].concat(),
            ));
        } else if each(&path, kind, oid).is_break() {
            break;
        }
    }
    Ok(())
}

/// Those of one directory, the last first.
fn entries(tree: &Tree<'_>, above: &[u8]) -> Vec<(Vec<u8>, ObjectType, Oid)> {
    let all = tree.iter().filter_map(|entry| {
        let path = [above, entry.name_bytes()].concat();
        Some((path, entry.kind()?, entry.id()))
    });
    let mut all: Vec<_> = all.collect();
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        (dir, repo)
    }

    /// A tree with these entries of one object.
    fn tree(repo: &Repository, names: &[&[u8]], oid: Oid, mode: i32) -> Oid {
        let mut builder = repo.treebuilder(None).unwrap();
        for name in names {
            builder.insert(*name, oid, mode).unwrap();
        }
        builder.write().unwrap()
    }

    #[test]
    fn names_that_are_no_text_are_met_in_their_order() {
        let (_dir, repo) = scene();
        let blob = repo.blob(b"x").unwrap();
        let below = tree(&repo, &[b"b", b"a\xff"], blob, 0o100_644);
        let top = tree(&repo, &[b"d\xff", b"c"], below, 0o040_000);
        let mut met = Vec::new();
        let top = repo.find_tree(top).unwrap();
        walk(&repo, &top, |path, kind, oid| {
            assert_eq!((kind, oid), (ObjectType::Blob, blob));
            met.push(path.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
        let expected: [&[u8]; 4] = [b"c/a\xff", b"c/b", b"d\xff/a\xff", b"d\xff/b"];
        assert_eq!(met, expected);
    }

    #[test]
    fn trees_of_trees_that_name_too_much_are_an_error() {
        let (_dir, repo) = scene();
        let names: [&[u8]; 10] = [b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9"];
        let mut oid = tree(&repo, &names, repo.blob(b"x").unwrap(), 0o100_644);
        for _ in 0..30 {
            oid = tree(&repo, &names, oid, 0o040_000);
        }
        let top = repo.find_tree(oid).unwrap();
        let walked = walk_bounded(&repo, &top, 1000, |_, _, _| ControlFlow::Continue(()));
        assert!(
            walked
                .unwrap_err()
                .message()
                .contains("more than 1000 paths")
        );
    }
}
