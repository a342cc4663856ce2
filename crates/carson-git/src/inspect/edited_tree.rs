//! A tree that differs from another one in a few entries. What lies in no changed directory is not read: the cost
//! is that of the change, however much the repository holds.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid, Repository, Tree, TreeBuilder};

use super::entry::Entry;

/// Mode of a directory.
const TREE: i32 = 0o040_000;

/// What is to differ.
#[derive(Default)]
pub(super) struct Edits(Node);

/// What is to differ at one path, and below it.
#[derive(Default)]
struct Node {
    here: Option<Edit>,
    /// Whether what the other tree has there has made way.
    is_new: bool,
    below: BTreeMap<Vec<u8>, Node>,
}

enum Edit {
    Put(Oid, u32),
    Removed,
}

impl Edits {
    /// This entry is there. What was put below its path, or in the place of a directory above, makes way.
    pub(super) fn put(&mut self, (path, oid, mode): Entry) {
        let mut node = &mut self.0;
        for name in path.split(|byte| *byte == b'/') {
            if matches!(node.here, Some(Edit::Put(..))) {
                node.here = None;
            }
            node = node.below.entry(name.to_vec()).or_default();
        }
        *node = Node {
            here: Some(Edit::Put(oid, mode)),
            is_new: true,
            below: BTreeMap::new(),
        };
    }

    /// The entry that the other tree has there is not.
    pub(super) fn remove(&mut self, path: &[u8]) {
        let mut node = &mut self.0;
        for name in path.split(|byte| *byte == b'/') {
            node = node.below.entry(name.to_vec()).or_default();
        }
        node.here = Some(Edit::Removed);
    }

    /// Writes the tree that `base` is with these; without a base, it has these alone.
    ///
    /// # Errors
    /// When a changed directory of the base is not there, or git refuses a name.
    pub(super) fn write(&self, repo: &Repository, base: Option<Oid>) -> Result<Oid, git2::Error> {
        match base {
            Some(base) if self.0.below.is_empty() => Ok(base),
            base => {
                let base = base.map(|base| repo.find_tree(base)).transpose()?;
                self.0.builder(repo, base.as_ref())?.write()
            }
        }
    }
}

impl Node {
    fn builder<'r>(
        &self,
        repo: &'r Repository,
        base: Option<&Tree<'_>>,
    ) -> Result<TreeBuilder<'r>, git2::Error> {
        let mut builder = repo.treebuilder(base)?;
        for entry in base.iter().flat_map(|base| base.iter()) {
            let mode = usual(entry.filemode_raw());
            if mode != entry.filemode_raw() {
                builder.insert(entry.name_bytes(), entry.id(), mode)?;
            }
        }
        for (name, node) in &self.below {
            let made = match node.here {
                Some(Edit::Put(oid, mode)) => Some((oid, mode.cast_signed())),
                _ => node.directory(repo, base, name)?.map(|oid| (oid, TREE)),
            };
            match made {
                Some((oid, mode)) => {
                    builder.insert(name.as_slice(), oid, mode)?;
                }
                None if builder.get(name.as_slice())?.is_some() => {
                    builder.remove(name.as_slice())?;
                }
                None => {}
            }
        }
        Ok(builder)
    }

    /// The directory of this name, where something is left in it.
    fn directory(
        &self,
        repo: &Repository,
        above: Option<&Tree<'_>>,
        name: &[u8],
    ) -> Result<Option<Oid>, git2::Error> {
        let was = above.and_then(|above| above.get_name_bytes(name));
        let was = was.filter(|was| !self.is_new && was.kind() == Some(ObjectType::Tree));
        let was = was.map(|was| repo.find_tree(was.id())).transpose()?;
        let builder = self.builder(repo, was.as_ref())?;
        match builder.len() {
            0 => Ok(None),
            _ => builder.write().map(Some),
        }
    }
}

/// The mode of a file as git writes it today: old ones have the rights of its group.
fn usual(mode: i32) -> i32 {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => 0o100_755,
        0o100_000 => 0o100_644,
        _ => mode,
    }
}

#[cfg(test)]
mod tests {
    use git2::Index;
    use proptest::prelude::*;

    use super::*;
    use crate::inspect::entry::bare;

    fn scene() -> (tempfile::TempDir, Repository, Vec<Oid>) {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        let blobs = [b"a", b"b", b"c"].map(|text| repo.blob(text).unwrap());
        (dir, repo, blobs.to_vec())
    }

    fn listed(repo: &Repository, tree: Oid) -> Vec<Entry> {
        let mut index = Index::new().unwrap();
        index.read_tree(&repo.find_tree(tree).unwrap()).unwrap();
        let entries = index.iter();
        entries
            .map(|entry| (entry.path, entry.id, entry.mode))
            .collect()
    }

    fn make_way(index: &mut Index, path: &[u8]) {
        let lies_in = |path: &[u8], dir: &[u8]| {
            path.strip_prefix(dir)
                .is_some_and(|rest| rest.first() == Some(&b'/'))
        };
        let there: Vec<Vec<u8>> = index.iter().map(|entry| entry.path).collect();
        let in_the_way = there
            .iter()
            .filter(|other| lies_in(other, path) || lies_in(path, other));
        for other in in_the_way {
            index.remove_path(&crate::paths::path_of(other)).unwrap();
        }
    }

    fn put(index: &mut Index, path: &[u8], oid: Oid, mode: u32) {
        index.add(&bare(path, oid, mode)).unwrap();
    }

    fn paths() -> impl Strategy<Value = Vec<u8>> {
        "[ab.](/[ab.]b?){0,3}"
            .prop_filter("names that git refuses", |path| {
                !path.split('/').any(|name| name == ".")
            })
            .prop_map(String::into_bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// An index, which holds every entry of a repository, says the same. What is in the way of an entry
        /// goes first: libgit2 leaves it in an index, and then one of the two in no tree.
        #[test]
        fn an_index_makes_the_same_tree(
            base in prop::collection::vec((paths(), 0..3_usize), 0..12),
            edits in prop::collection::vec((paths(), prop::option::of(0..3_usize)), 0..12),
        ) {
            let (_dir, repo, blobs) = scene();
            let mut index = Index::new().unwrap();
            for (path, blob) in &base {
                make_way(&mut index, path);
                put(&mut index, path, blobs[*blob], 0o100_644);
            }
            let tree = index.write_tree_to(&repo).unwrap();
            let mut made = Edits::default();
            for (path, edit) in edits {
                let text = crate::paths::path_of(&path);
                match edit {
                    Some(blob) => {
                        make_way(&mut index, &path);
                        put(&mut index, &path, blobs[blob], 0o100_755);
                        made.put((path, blobs[blob], 0o100_755));
                    }
                    None if index.get_path(&text, 0).is_some() => {
                        index.remove_path(&text).unwrap();
                        made.remove(&path);
                    }
                    None => {}
                }
            }
            let expected = index.write_tree_to(&repo).unwrap();
            let written = made.write(&repo, Some(tree)).unwrap();
            prop_assert_eq!(written, expected, "{:?}", listed(&repo, written));
        }
    }

    #[test]
    fn a_directory_without_entries_is_none() {
        let (_dir, repo, blobs) = scene();
        let mut edits = Edits::default();
        edits.put((b"a/b/c".to_vec(), blobs[0], 0o100_644));
        edits.put((b"d".to_vec(), blobs[1], 0o100_644));
        let first = edits.write(&repo, None).unwrap();
        let mut edits = Edits::default();
        edits.remove(b"a/b/c");
        let second = edits.write(&repo, Some(first)).unwrap();
        assert_eq!(
            listed(&repo, second),
            [(b"d".to_vec(), blobs[1], 0o100_644)]
        );
        let mut edits = Edits::default();
        edits.remove(b"d");
        let last = edits.write(&repo, Some(second)).unwrap();
        assert_eq!(listed(&repo, last), []);
    }
}
