//! Whether an attempt made the files that it was to create.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::tree::Change;

/// What the file system says of a regular file.
type Print = (u64, u64, i64, i64, i64, i64, u64);

/// The files that must be made, as they were before.
#[derive(Clone, Debug)]
pub struct ToMake {
    before: BTreeMap<PathBuf, Option<Print>>,
}

impl ToMake {
    /// These, from the top of the tree, as they are now.
    #[must_use]
    pub fn look<'p>(root: &Path, paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let look = |path: &Path| (path.to_owned(), print(root, path));
        Self {
            before: paths.into_iter().map(look).collect(),
        }
    }

    /// Those that were not made or changed since. `changes` are those of the tree; a file that no look at it sees
    /// (`is_seen`), such as one in a build folder, is told by the file system.
    #[must_use]
    pub fn missing(
        &self,
        root: &Path,
        changes: &[Change],
        is_seen: impl Fn(&Path) -> bool,
    ) -> Vec<&Path> {
        let is_made = |path: &Path, before: &Option<Print>| {
            let change = changes.iter().find(|change| change.path.as_path() == path);
            match change {
                Some(change) => change
                    .after
                    .as_ref()
                    .is_some_and(crate::tree::Entry::is_file),
                None => {
                    let now = print(root, path);
                    !is_seen(path) && now.is_some() && now != *before
                }
            }
        };
        let missing = self
            .before
            .iter()
            .filter(|(path, before)| !is_made(path, before));
        missing.map(|(path, _)| path.as_path()).collect()
    }
}

/// Of a regular file to which no link leads.
fn print(root: &Path, path: &Path) -> Option<Print> {
    let mut at = root.to_owned();
    for part in path.parent()? {
        at.push(part);
        fs::symlink_metadata(&at)
            .ok()
            .filter(fs::Metadata::is_dir)?;
    }
    let found = fs::symlink_metadata(root.join(path))
        .ok()
        .filter(fs::Metadata::is_file)?;
    Some((
        found.dev(),
        found.ino(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        found.size(),
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tree::{Look, Rules};

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn made_or_changed_and_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("tree"), dir.path().join("outside"));
        write(&root, "old", "o");
        write(&root, "same", "s");
        write(&root, "dist/old", "o");
        write(&root, "dist/same", "s");
        write(&outside, "file", "x");
        let names = [
            "old",
            "same",
            "new",
            "none",
            "link",
            "dir",
            "way/file",
            "dist/old",
            "dist/same",
            "dist/new",
            "dist/link",
            "dist/way/file",
        ];
        let to_make = ToMake::look(&root, names.map(Path::new));
        let rules = Rules::everything(&root).leaving_out(["dist/"]);
        let before = Look::at(&root, &rules).snapshot().unwrap();
        write(&root, "old", "changed");
        write(&root, "new", "");
        fs::create_dir(root.join("dir")).unwrap();
        for (to, name) in [
            ("new", "link"),
            ("../outside", "way"),
            ("old", "dist/link"),
            ("../../outside", "dist/way"),
        ] {
            symlink(to, root.join(name)).unwrap();
        }
        write(&root, "dist/old", "changed");
        write(&root, "dist/new", "");
        let after = Look::at(&root, &rules).snapshot().unwrap();
        let changes = before.changes(&after);
        let is_seen = |path: &Path| after.entries().any(|(seen, _)| seen.as_path() == path);
        let missing = to_make.missing(&root, &changes, is_seen);
        let right = [
            "dir",
            "dist/link",
            "dist/same",
            "dist/way/file",
            "link",
            "none",
            "same",
            "way/file",
        ];
        assert_eq!(missing, right.map(Path::new));
    }
}
