//! Worktrees that are clones of a checkout which many begin from ([`Mirror::make_layer`]): where no
//! layers can be had, and the disk lets files share their blocks.
//!
//! Such a worktree has all of its files in its own directory, as a copy has, and is read like one. Nothing
//! that a session wrote is ever cloned.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use crate::clone_tree::clone_tree;
use crate::error::{GitError, io};
use crate::force::{attributes_differ, force};
use crate::layered::{
    LAYER_BELOW, LAYER_INDEX, LAYER_TREE, Turn, admin, appears, finish_layer, git_file, half_of,
};
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::private::{REPOSITORY, repository, sizes};
use crate::stat_data::copy_for;
use crate::worktree::Worktree;

/// Bytes of files that a look would hash sooner than this is waited for.
const LARGE: u64 = 16 << 20;
/// What changed so shortly before Carson's own index was written is hashed by each look, whatever it says
/// (`inspect/stat.rs`): all of a clone did.
const STEP: Duration = Duration::from_millis(60);

impl Mirror {
    /// Makes a repository beside `path`, and there a worktree of it with a new branch at `base`, whose
    /// files are clones of those of the layer at `layer`. The mirror is only read.
    ///
    /// # Errors
    /// When the branch exists, or something cannot be cloned or written.
    pub async fn add_cloned(
        &self,
        path: &Path,
        branch: &str,
        base: &Oid,
        layer: &Path,
    ) -> Result<Worktree, GitError> {
        let (worktree, refs) = self.begin(path, branch, base).await?;
        cloned(&worktree.repository(), path, branch, base, layer).await?;
        let (index, began) = (worktree.git_dir().join("index"), worktree.began());
        if bytes_of(&index)? > LARGE {
            sleep(STEP).await;
        }
        let noted = fs::create_dir_all(&began.dir)
            .and_then(|()| fs::write(&began.refs, &refs))
            .and_then(|()| fs::copy(&index, &began.index));
        noted.map_err(|source| io(&began.dir, source))?;
        Ok(worktree)
    }
}

impl Mirror {
    /// Checks a commit out as [`make_layer`](Self::make_layer) does, beginning with a clone of the layer of
    /// another one: only what differs is written.
    ///
    /// # Errors
    /// When something cannot be cloned or written.
    pub async fn make_layer_from(
        &self,
        dir: &Path,
        commit: &Oid,
        (from, layer): (&Oid, &Path),
    ) -> Result<(), GitError> {
        let half = half_of(dir);
        let _turn = Turn::at(&half)?;
        let made = async {
            let (own, tree) = (half.join(REPOSITORY), half.join(LAYER_TREE));
            let begun = fs::create_dir_all(&half);
            let begun = begun.and_then(|()| repository(&own, &self.path().join("objects"), ""));
            begun.map_err(|source| io(&half, source))?;
            cloned(&own, &tree, "carson/layer", commit, layer).await?;
            let (one, other) = (from.git2(), commit.git2());
            let differ = self
                .bare
                .read(move |repo| Ok(attributes_differ(repo, one, other)));
            let admin = own.join("worktrees").join(LAYER_TREE);
            for git in force(&admin, &tree, differ.await?) {
                git.with_workers().text().await?;
            }
            finish_layer(&half).await
        };
        appears(&half, dir, made.await)
    }
}

/// What its files take of a disk, by an index.
fn bytes_of(index: &Path) -> Result<u64, GitError> {
    let read = git2::Index::open(index).map_err(std::io::Error::other);
    let (_, bytes) = sizes(&read.map_err(|source| io(index, source))?);
    Ok(bytes)
}

/// Makes a worktree of the repository at `own` whose files are clones; on this branch, which is at this
/// commit.
pub(crate) async fn cloned(
    own: &Path,
    path: &Path,
    branch: &str,
    at: &Oid,
    layer: &Path,
) -> Result<(), GitError> {
    let (own, path, branch, at, layer) = (
        own.to_owned(),
        path.to_owned(),
        branch.to_owned(),
        at.clone(),
        layer.to_owned(),
    );
    let place = path.clone();
    let making = move || {
        if layer.join(LAYER_BELOW).exists() {
            return Err(std::io::Error::other("the layer is not a whole checkout"));
        }
        clone_tree(&layer.join(LAYER_TREE), &path)?;
        let admin = admin(&own, &path, &path, (&branch, &at))?;
        copy_for(&layer.join(LAYER_INDEX), &path, &admin.join("index"))?;
        git_file(&path, &admin)
    };
    let made = tokio::task::spawn_blocking(making).await;
    let made = made.unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
    made.map_err(|source| io(&place, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone_tree::can_clone;
    use crate::fixture::{World, git};

    /// Where the temporary directory lies on a disk that clones; `CARSON_TEST_CLONES` says that it must.
    #[tokio::test]
    async fn a_clone_is_a_worktree_as_git_makes_it() {
        let world = World::new().await;
        let root = world.dir.path().to_owned();
        if can_clone(&root, &root).is_err() {
            assert!(
                std::env::var_os("CARSON_TEST_CLONES").is_none(),
                "it was to clone"
            );
            return;
        }
        let base = world.mirror.resolve("main").await.unwrap();
        let (layer, room) = (root.join("layer"), root.join("bench"));
        let (one, two) = (room.join("tree-1"), room.join("other/tree-2"));
        world.mirror.make_layer(&layer, &base).await.unwrap();
        fs::create_dir_all(room.join("other")).unwrap();
        let made = world.mirror.add_cloned(&one, "carson/x", &base, &layer);
        let tree = made.await.unwrap();
        assert_eq!(git(&tree.path, ["status", "--porcelain"]), "");
        assert_eq!(git(&tree.path, ["rev-parse", "HEAD"]), base.as_str());
        assert_eq!(git(&tree.path, ["branch", "--show-current"]), "carson/x");
        let seen = tree.inspect(true).await.unwrap();
        assert!(
            !seen.facts().dirty && seen.facts().commits == 0,
            "{:?}",
            seen.facts()
        );
        fs::write(tree.path.join("README.md"), "changed\n").unwrap();
        assert!(tree.inspect(true).await.unwrap().facts().dirty);
        // What is written in a clone is no part of what it was cloned from.
        let readme = |layer: &Path| fs::read_to_string(layer.join(LAYER_TREE).join("README.md"));
        assert!(!readme(&layer).unwrap().contains("changed"));
        // The next base's is what differs from it.
        world.upstream("main", "README.md", "newer\n");
        world.mirror.refresh().await.unwrap();
        let newer = world.mirror.resolve("main").await.unwrap();
        assert_ne!(newer, base);
        let next = root.join("next");
        let made = world.mirror.make_layer_from(&next, &newer, (&base, &layer));
        made.await.unwrap();
        assert_eq!(readme(&next).unwrap(), "newer\n");
        assert!(!readme(&layer).unwrap().contains("newer"));
        let made = world.mirror.add_cloned(&two, "carson/y", &newer, &next);
        let tree = made.await.unwrap();
        assert_eq!(git(&tree.path, ["status", "--porcelain"]), "");
    }
}
