//! Takes up the files of a directory as a tree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use carson_proc::Finished;

use crate::error::GitError;
use crate::git::detail;
use crate::index::{Index, path_of, paths};
use crate::nested;
use crate::oid::Oid;
use crate::traps;
use crate::worktree::{Worktree, loosen};

/// Repositories inside repositories are followed this deep.
const DEPTH: usize = 16;
/// The tree without files; git knows it without having it.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// What a directory holds.
pub(crate) struct Taken {
    /// Its files, without ignored ones.
    pub tree: Oid,
    /// What could not be taken up, and why. The directory must stay then.
    pub trouble: Vec<String>,
    /// Directories in it (or itself) that have a `.git` of their own.
    pub repositories: Vec<PathBuf>,
}

impl Worktree {
    /// Takes up everything below `root` that is not ignored, beginning with what `index` has. A
    /// repository of its own comes in as ordinary files: git alone would take its name only. What
    /// is known of the index is its tree.
    pub(crate) fn take<'t>(
        &'t self,
        root: &'t Path,
        index: &'t Index,
        depth: usize,
        known: Option<&'t Oid>,
    ) -> Pin<Box<dyn Future<Output = Result<Taken, GitError>> + Send + 't>> {
        Box::pin(async move {
            let before = index.stamp();
            index.unhide(root).await?;
            let (below, bench) = (root.to_owned(), self.path.parent().map(Path::to_owned));
            let odd = move || traps::clear(&below, &bench.unwrap_or_default());
            let odd = blocking(odd).await;
            let (strangers, mut trouble) = add(root, index, odd).await?;
            let listed = index.list().await?;
            let has_git = |path: &PathBuf| root.join(path).join(".git").symlink_metadata().is_ok();
            let mut repositories: Vec<PathBuf> = listed
                .dirs
                .iter()
                .filter(|dir| has_git(dir))
                .map(|dir| root.join(dir))
                .collect();
            let linked = listed.links.into_iter().filter(has_git);
            let inner: BTreeSet<PathBuf> = strangers.into_iter().chain(linked).collect();
            // What lies inside another of them is found there.
            let outermost = |path: &&PathBuf| {
                let above = |other: &PathBuf| other != *path && path.starts_with(other);
                !inner.iter().any(above)
            };
            for path in inner.iter().filter(outermost) {
                let inner = self.take_inner(root, path, index, depth).await?;
                trouble.extend(inner.trouble);
                repositories.extend(inner.repositories);
            }
            // Git replaces the file when anything in it changes.
            let tree = match known {
                Some(known) if index.stamp() == before => known.clone(),
                _ => index.write_tree().await?,
            };
            Ok(Taken {
                tree,
                trouble,
                repositories,
            })
        })
    }

    /// Takes up a repository of its own at `path` below `root`, and puts its files into `index`.
    async fn take_inner(
        &self,
        root: &Path,
        path: &Path,
        index: &Index,
        depth: usize,
    ) -> Result<Taken, GitError> {
        let dir = root.join(path);
        let own = Index::empty(&self.mirror)?;
        let mut inner = if depth < DEPTH {
            self.take(&dir, &own, depth + 1, None).await?
        } else {
            let deep = format!("{} lies too deep", dir.display());
            Taken {
                tree: own.write_tree().await?,
                trouble: vec![deep],
                repositories: Vec::new(),
            }
        };
        let submodule = depth == 0 && self.is_submodule(path).await?;
        if !(submodule && nested::head_tree(self, &dir).await.as_ref() == Some(&inner.tree)) {
            index.graft(root, path, &inner.tree).await?;
        }
        inner.repositories.push(dir);
        Ok(inner)
    }

    /// Whether the commit that the firing began at has a submodule there.
    async fn is_submodule(&self, path: &Path) -> Result<bool, GitError> {
        let (base, path) = (self.base.git2(), path.to_owned());
        let read = self.mirror.read(move |repo| {
            let tree = repo.find_commit(base)?.tree()?;
            Ok(tree
                .get_path(&path)
                .is_ok_and(|entry| entry.kind() == Some(git2::ObjectType::Commit)))
        });
        read.await
    }
}

/// Adds everything to the index but the odd repositories. Gives these and the ones without a
/// commit, which git cannot add at all, and what is missing.
async fn add(
    root: &Path,
    index: &Index,
    odd: Vec<PathBuf>,
) -> Result<(Vec<PathBuf>, Vec<String>), GitError> {
    let done = add_all(root, index, &odd, false).await?;
    if is_whole(&done) {
        return Ok((odd, Vec::new()));
    }
    // The usual reasons: a repository without a commit, and permissions that tools take away.
    let others = index.git_on(root, "ls-files");
    let others = others
        .args(["-z", "--others", "--exclude-standard", "--", ":/"])
        .args(without(&odd))
        .bytes()
        .await?;
    let inner = paths(&others).filter_map(|path| path.as_bytes().strip_suffix(b"/"));
    let mut strangers: Vec<PathBuf> = inner.map(path_of).collect();
    strangers.extend(odd);
    let owned = root.to_owned();
    blocking(move || loosen(&owned)).await;
    let done = add_all(root, index, &strangers, false).await?;
    if is_whole(&done) {
        return Ok((strangers, Vec::new()));
    }
    // A filter or an encoding that `.gitattributes` asks for can fail; the bytes as they are are
    // better than nothing.
    let done = add_all(root, index, &strangers, true).await?;
    let trouble = if is_whole(&done) {
        Vec::new()
    } else {
        vec![detail(&done)]
    };
    Ok((strangers, trouble))
}

async fn add_all(
    root: &Path,
    index: &Index,
    left_out: &[PathBuf],
    raw: bool,
) -> Result<Finished, GitError> {
    let mut add = index
        .git_on(root, "add")
        .args(["--all", "--ignore-errors", "--", ":/"])
        .args(without(left_out));
    if raw {
        add = add.env("GIT_ATTR_SOURCE", EMPTY_TREE);
    }
    add.finish().await
}

/// Patterns that leave these paths out.
fn without(paths: &[PathBuf]) -> Vec<OsString> {
    let spec = |path: &PathBuf| {
        let mut spec = OsString::from(":(top,exclude,literal)");
        spec.push(path);
        spec
    };
    paths.iter().map(spec).collect()
}

/// A walk that fails half way found nothing.
async fn blocking<T: Default + Send + 'static>(walk: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(walk).await.unwrap_or_default()
}

/// A directory that cannot be opened is only a warning to git.
fn is_whole(done: &Finished) -> bool {
    done.success() && !done.stderr.text().contains("could not open directory")
}
