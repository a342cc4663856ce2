//! A clean room: a fresh checkout of exactly one commit, for whoever judges it.
//!
//! It is made like a firing's own worktree, in a directory of its own: nothing that a session could
//! write but the commit is in it.

use std::fs;
use std::path::{Path, PathBuf};

use carson_proc::inspector::Desk;

use crate::cloned::cloned;
use crate::error::{GitError, io};
use crate::git;
use crate::inspect::changed_tests::ChangedTest;
use crate::inspect::checkout::Checkout;
use crate::oid::Oid;
use crate::private::{REPOSITORY, repository};
use crate::scratch::ScratchDir;
use crate::seen::{Seen, bounds};

/// Bytes that a checkout may write beside the base's: few objects can make many files.
const SPREAD: u64 = 4 << 30;

/// What a checkout begins with.
#[derive(Clone, Copy, Debug)]
pub enum Ground<'g> {
    /// With nothing.
    Nothing,
    /// With clones of the files of a layer of the base, which lies there.
    Clone(&'g Path),
}

impl Seen {
    /// Checks a commit out at `tree`, on the firing's branch, with a repository of its own beside
    /// it, and lays these tests of the work over it. The commit is the base, or one that this look took
    /// over. Where it begins with the base's files, only what it changes is written.
    ///
    /// # Errors
    /// When its files take too much room, or the checkout fails.
    pub async fn check_out(
        &self,
        (commit, tests): (&Oid, &[ChangedTest]),
        tree: &Path,
        ground: Ground<'_>,
    ) -> Result<(), GitError> {
        self.may_spread(commit, tests)?;
        let (room, mirror) = (tree.parent().unwrap_or(tree), &self.worktree.mirror);
        let own = tree.with_file_name(REPOSITORY);
        self.repository_of_room(&own)?;
        if let Ground::Clone(layer) = ground {
            cloned(&own, tree, &self.worktree.branch, commit, layer).await?;
        }
        let dir = ScratchDir::new(mirror.path(), "checkout")?;
        let desk = Desk {
            own: dir.path().to_owned(),
            programs: git::program().into_iter().collect(),
            read: vec![mirror.path().join("objects")],
            write: vec![room.to_owned(), tree.to_owned()],
            overlays: Vec::new(),
        };
        let name = tree.file_name().unwrap_or_default().to_string_lossy();
        let stands = !matches!(ground, Ground::Nothing);
        let question = self.to_check_out((commit, tests), own, (tree, name.into_owned()), stands);
        let asked = mirror.inspector.ask(&question, &desk, &bounds()).await;
        asked.map_err(|source| GitError::Unseen {
            path: tree.to_owned(),
            source,
        })
    }

    /// Whether a checkout of this may be made.
    pub(crate) fn may_spread(&self, commit: &Oid, tests: &[ChangedTest]) -> Result<(), GitError> {
        if (*commit != self.worktree.base || !tests.is_empty()) && self.found.spread > SPREAD {
            return Err(GitError::Failed {
                verb: "checkout".into(),
                detail: format!("its files take {} MB", self.found.spread >> 20),
            });
        }
        Ok(())
    }

    /// Makes the repository of a room, with what this look took over.
    pub(crate) fn repository_of_room(&self, own: &Path) -> Result<(), GitError> {
        let objects = self.worktree.mirror.path().join("objects");
        let refs = fs::read_to_string(self.worktree.began().refs).unwrap_or_default();
        let made = repository(own, &objects, &refs).and_then(|()| {
            let packs = own.join("objects/pack");
            self.packs()
                .iter()
                // No second name for them: whoever is in the room can write there.
                .try_for_each(|pack| {
                    let to = packs.join(pack.file_name().unwrap_or_default());
                    fs::copy(pack, to).map(drop)
                })
        });
        made.map_err(|source| io(own, source))
    }

    /// What is asked of whoever checks it out in the worktree of this repository that is seen there and has this name, and
    /// may have the base's files already.
    pub(crate) fn to_check_out(
        &self,
        (commit, tests): (&Oid, &[ChangedTest]),
        repository: PathBuf,
        (tree, name): (&Path, String),
        stands_on_base: bool,
    ) -> Checkout {
        Checkout {
            repository,
            tree: tree.to_owned(),
            name,
            branch: self.worktree.branch.clone(),
            commit: commit.clone(),
            stands_on: stands_on_base.then(|| self.worktree.base.clone()),
            tests: (!tests.is_empty()).then(|| (self.tip.clone(), tests.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::Ground;
    use crate::fixture::{World, git, write};

    /// What the base has in the place of a test's directory is in nobody's way, and leads nowhere.
    #[tokio::test]
    async fn tests_are_laid_over_another_commit_and_follow_nothing() {
        let world = World::new().await;
        let first = world.worktree("one").await;
        first.put("src/lib.rs", "pub fn two() {}\n");
        std::os::unix::fs::symlink("src", first.path.join("tests")).unwrap();
        first.put("testdata", "a file\n");
        let base = first.commit_as_session("Base");
        fs::remove_file(first.path.join("tests")).unwrap();
        fs::remove_file(first.path.join("testdata")).unwrap();
        first.put("tests/lib.rs", "#[test]\nfn three() {}\n");
        first.put("testdata/deep/a.json", "{}\n");
        first.put("src/lib.rs", "pub fn three() {}\n");
        let seen = first.inspect(true).await.unwrap();
        assert!(seen.tests().is_empty(), "{:?}", seen.tests());
        first.commit_as_session("Work");
        let seen = first.inspect(true).await.unwrap();
        let tests = seen.tests();
        let room = world.dir.path().join("room/tree");
        fs::create_dir_all(room.parent().unwrap()).unwrap();
        seen.check_out((&base, tests), &room, Ground::Nothing)
            .await
            .unwrap();
        let read = |path: &str| fs::read_to_string(room.join(path)).unwrap();
        assert_eq!(read("src/lib.rs"), "pub fn two() {}\n");
        assert_eq!(read("tests/lib.rs"), "#[test]\nfn three() {}\n");
        assert_eq!(read("testdata/deep/a.json"), "{}\n");
    }

    #[tokio::test]
    async fn a_room_has_the_commit_and_nothing_else() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        tree.put("src/lib.rs", "pub fn two() {}\n");
        tree.put(".gitignore", "target/\n");
        let commit = tree.commit_as_session("Work");
        for planted in ["target/debug/planted", "untracked", "README.md"] {
            write(&tree.path.join(planted), "planted");
        }
        tree.run(["config", "core.fsmonitor", "/bin/false"]);
        write(
            &tree.repository().join("hooks/post-checkout"),
            "#!/bin/sh\nexit 1\n",
        );
        let seen = tree.inspect(false).await.unwrap();
        let room = world.dir.path().join("room/tree");
        fs::create_dir_all(room.parent().unwrap()).unwrap();
        seen.check_out((&commit, &[]), &room, Ground::Nothing)
            .await
            .unwrap();
        assert_eq!(
            fs::read_to_string(room.join("src/lib.rs")).unwrap(),
            "pub fn two() {}\n"
        );
        assert_eq!(
            fs::read_to_string(room.join("README.md")).unwrap(),
            "# widget\none\ntwo\n"
        );
        assert!(!room.join("target").exists() && !room.join("untracked").exists());
        assert_eq!(git(&room, ["status", "--porcelain"]), "");
        assert_eq!(git(&room, ["rev-parse", "HEAD"]), commit.as_str());
        assert_eq!(git(&room, ["branch", "--show-current"]), tree.branch);
        assert_eq!(
            git(&room, ["log", "--oneline", "origin/main..HEAD"])
                .lines()
                .count(),
            1
        );
        // Whoever is in the room can write what is there: none of it is Carson's own by another name.
        let packs = room.with_file_name("repo.git").join("objects/pack");
        for pack in fs::read_dir(packs).unwrap() {
            let links = pack.unwrap().metadata().unwrap().nlink();
            assert_eq!(links, 1);
        }
        let config = fs::read_to_string(room.with_file_name("repo.git").join("config")).unwrap();
        assert!(!config.contains("fsmonitor"));
    }

    /// Files that both commits have are other files where their attributes differ, however they are made.
    #[tokio::test]
    async fn a_room_above_the_base_has_the_attributes_of_its_commit() {
        let world = World::new().await;
        world.upstream("main", "a.sh", "one\ntwo\n");
        world.upstream("main", "deep/b.sh", "one\n");
        world.mirror.refresh().await.unwrap();
        let tree = world.worktree("one").await;
        let base = tree.base.clone();
        tree.put(".gitattributes", "*.sh text eol=crlf\n");
        let commit = tree.commit_as_session("Line ends");
        let seen = tree.inspect(true).await.unwrap();
        assert_eq!(seen.tip(), &commit);
        let dir = world.dir.path();
        let (own, room) = (dir.join("room/repo.git"), dir.join("room/tree"));
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        // A room that begins with the files of the base, as one on layers is seen.
        seen.check_out((&base, &[]), &room, Ground::Nothing)
            .await
            .unwrap();
        let branch = git(&own, ["symbolic-ref", "HEAD"]);
        assert!(branch.starts_with("refs/heads/"), "{branch}");
        let packs = own.join("objects/pack");
        for pack in seen.packs() {
            fs::copy(&pack, packs.join(pack.file_name().unwrap())).unwrap();
        }
        git(&room, ["reset", "--quiet", "--soft", commit.as_str()]);
        let admin = own.join("worktrees/tree");
        for git in crate::force::force(&admin, &room, true) {
            git.text().await.unwrap();
        }
        let read = |path: &str| fs::read_to_string(room.join(path)).unwrap();
        assert_eq!(read("a.sh"), "one\r\ntwo\r\n");
        assert_eq!(read("deep/b.sh"), "one\r\n");
        assert_eq!(git(&room, ["status", "--porcelain"]), "");
    }
}
