//! What a commit has at a path, read within a bound.

use std::path::Path;

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAt {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// The commit has nothing there.
    Nothing,
    /// What is there is no regular file.
    NoFile,
    /// It has so many bytes, which is more than were asked for.
    TooLong(u64),
}

/// What a commit has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPath {
    /// Nothing.
    Nothing,
    /// A regular file.
    File,
    /// A link: where it leads, or its beginning.
    Link(Vec<u8>),
    /// A directory.
    Directory,
    /// A commit of another repository.
    Repository,
}

/// Bytes of a link's way that are read: the longest that any file system follows.
const LINK: usize = 4096;

impl Mirror {
    /// A file of a commit, of at most so many bytes.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub async fn file_at(&self, commit: &Oid, path: &str, most: usize) -> Result<FileAt, GitError> {
        let (commit, path) = (commit.git2(), path.to_owned());
        let read = move |repo: &git2::Repository| {
            let tree = repo.find_commit(commit)?.tree()?;
            let Some(entry) = entry(&tree, &path)? else {
                return Ok(FileAt::Nothing);
            };
            if !matches!(entry.filemode(), 0o100_644 | 0o100_755) {
                return Ok(FileAt::NoFile);
            }
            let odb = repo.odb()?;
            // Its size is known before it is in memory.
            let (size, _) = odb.read_header(entry.id())?;
            if size > most {
                return Ok(FileAt::TooLong(u64::try_from(size).unwrap_or(u64::MAX)));
            }
            Ok(FileAt::Bytes(odb.read(entry.id())?.data().to_vec()))
        };
        self.bare.read(read).await
    }

    /// What a commit, which a session may have made, has at each of these paths.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub async fn at_paths(
        &self,
        commit: &Oid,
        paths: Vec<String>,
    ) -> Result<Vec<AtPath>, GitError> {
        let commit = commit.git2();
        let read = move |repo: &git2::Repository| {
            let tree = repo.find_commit(commit)?.tree()?;
            paths.iter().map(|path| at(repo, &tree, path)).collect()
        };
        self.kept().bare.read(read).await
    }
}

fn at(repo: &git2::Repository, tree: &git2::Tree<'_>, path: &str) -> Result<AtPath, git2::Error> {
    let Some(entry) = entry(tree, path)? else {
        return Ok(AtPath::Nothing);
    };
    Ok(match entry.filemode() {
        0o120_000 => {
            let odb = repo.odb()?;
            let (size, _) = odb.read_header(entry.id())?;
            match size {
                0..=LINK => AtPath::Link(odb.read(entry.id())?.data().to_vec()),
                // No system follows it; wherever it leads, it is not in the tree.
                _ => AtPath::Link(b"/".to_vec()),
            }
        }
        0o160_000 => AtPath::Repository,
        0o040_000 => AtPath::Directory,
        _ => AtPath::File,
    })
}

fn entry(
    tree: &git2::Tree<'_>,
    path: &str,
) -> Result<Option<git2::TreeEntry<'static>>, git2::Error> {
    match tree.get_path(Path::new(path)) {
        Ok(entry) => Ok(Some(entry)),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    #[tokio::test]
    async fn a_file_is_read_within_its_bound_and_nothing_else_is_one() {
        let world = World::new().await;
        std::os::unix::fs::symlink("docs/plan.json", world.seed().join("link")).unwrap();
        let base = world.upstream("main", "docs/plan.json", "{}\n");
        world.mirror.refresh().await.unwrap();
        let file = async |path: &str, most| world.mirror.file_at(&base, path, most).await.unwrap();
        assert_eq!(
            file("docs/plan.json", 3).await,
            FileAt::Bytes(b"{}\n".to_vec())
        );
        assert_eq!(file("docs/plan.json", 2).await, FileAt::TooLong(3));
        for path in [
            "docs/none.json",
            "none/plan.json",
            "link/plan.json",
            "docs/plan.json/x",
        ] {
            assert_eq!(file(path, 9).await, FileAt::Nothing, "{path}");
        }
        for path in ["docs", "link"] {
            assert_eq!(file(path, 9).await, FileAt::NoFile, "{path}");
        }
        world.mirror.kept().make().unwrap();
        let paths = ["docs/plan.json", "docs", "link", "none"].map(str::to_owned);
        let at = world.mirror.at_paths(&base, paths.to_vec()).await.unwrap();
        let link = AtPath::Link(b"docs/plan.json".to_vec());
        let right = [AtPath::File, AtPath::Directory, link, AtPath::Nothing];
        assert_eq!(at, right);
    }
}
