//! A clean room on layers that is there before anybody knows for which commit: who checks that out starts meanwhile, and
//! puts their walls up.

use std::path::{Path, PathBuf};

use carson_proc::inspector::{Desk, InspectError};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;
use tokio::task::JoinHandle;

use crate::error::{GitError, io};
use crate::git;
use crate::inspect::changed_tests::ChangedTest;
use crate::inspect::checkout::Checkout;
use crate::layered::{Layered, link_repository, link_tree};
use crate::oid::Oid;
use crate::private::REPOSITORY;
use crate::scratch::ScratchDir;
use crate::seen::{Seen, bounds};
use crate::worktree::Worktree;

/// A clean room on layers that has nothing but its place. Dropping it ends whoever waits there.
#[derive(Debug)]
pub struct EmptyRoom {
    tree: PathBuf,
    layered: Layered,
    /// Whoever waits is asked here.
    asks: Option<oneshot::Sender<Checkout>>,
    answer: JoinHandle<Result<Result<(), InspectError>, RecvError>>,
}

impl Drop for EmptyRoom {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

impl Worktree {
    /// Makes the place of a worktree at `tree`, in a directory that is there, and lets somebody start who will check a
    /// commit out in it. Their time begins now.
    ///
    /// # Errors
    /// When something is there, or it cannot be written.
    pub fn empty_room(&self, tree: &Path, layered: Layered) -> Result<EmptyRoom, GitError> {
        // What is put together is not to change below who looks at it: git's own link is there before.
        let linked = link_tree(&tree.with_file_name(REPOSITORY), tree, &layered);
        linked.map_err(|source| io(tree, source))?;
        let dir = ScratchDir::new(self.mirror.path(), "checkout")?;
        let room = tree.parent().unwrap_or(tree);
        let desk = Desk {
            own: dir.path().to_owned(),
            programs: git::program().into_iter().collect(),
            read: vec![self.mirror.path().join("objects")],
            write: vec![room.to_owned(), layered.overlay.at.clone()],
            overlays: vec![layered.overlay.clone()],
        };
        let (asks, asked) = oneshot::channel();
        let inspector = self.mirror.inspector.clone();
        let answer = tokio::spawn(async move {
            let answer = inspector.ask_when(asked, &desk, &bounds()).await;
            drop(dir);
            answer
        });
        Ok(EmptyRoom {
            tree: tree.to_owned(),
            layered,
            asks: Some(asks),
            answer,
        })
    }
}

impl Seen {
    /// Checks a commit out in such a room, as [`check_out`](Self::check_out) does.
    ///
    /// # Errors
    /// As there, and when whoever waited did so for longer than they may live.
    pub async fn check_out_in(
        &self,
        (commit, tests): (&Oid, &[ChangedTest]),
        mut room: EmptyRoom,
    ) -> Result<(), GitError> {
        self.may_spread(commit, tests)?;
        // Whoever was let start a moment ago does so beside what follows.
        tokio::task::yield_now().await;
        let (tree, layered) = (&room.tree, &room.layered);
        let own = tree.with_file_name(REPOSITORY);
        self.repository_of_room(&own)?;
        let linked = link_repository(&own, tree, &self.worktree.branch, commit, layered);
        linked.map_err(|source| io(tree, source))?;
        let name = tree.file_name().unwrap_or_default().to_string_lossy();
        let at = (layered.overlay.at.as_path(), name.into_owned());
        let question = self.to_check_out((commit, tests), own, at, true);
        if let Some(asks) = room.asks.take() {
            // Where nobody waits any more they have said why.
            let _ = asks.send(question);
        }
        let garbled = |why: &dyn std::fmt::Display| InspectError::Garbled(why.to_string());
        let answer = match (&mut room.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(unasked)) => Err(garbled(&unasked)),
            Err(panic) => Err(garbled(&panic)),
        };
        answer.map_err(|source| GitError::Unseen {
            path: room.tree.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use carson_proc::sandbox::{Marks, Overlay, Upper};

    use crate::fixture::{World, git};
    use crate::layered::{LAYER_INDEX, LAYER_TREE, Layered};

    /// Two that are begun before the look, and filled at once; nobody is asked in a third.
    #[tokio::test]
    async fn rooms_are_there_before_their_commit() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        let (dir, layer) = (world.dir.path(), world.dir.path().join("layer"));
        world.mirror.make_layer(&layer, &tree.base).await.unwrap();
        let begun = ["1", "2", "3"].map(|number| {
            let room = dir.join("rooms").join(number);
            fs::create_dir_all(&room).unwrap();
            let upper = Upper {
                dir: room.join("tree"),
                work: room.join("tree.work"),
            };
            let overlay = Overlay {
                at: upper.dir.clone(),
                lower: vec![layer.join(LAYER_TREE)],
                upper: Some(upper),
                marks: Marks::default(),
                renames: true,
            };
            let layered = Layered {
                overlay,
                index: layer.join(LAYER_INDEX),
            };
            let at = room.join("tree");
            (tree.empty_room(&at, layered).unwrap(), at)
        });
        tree.put("src/lib.rs", "pub fn two() {}\n");
        let commit = tree.commit_as_session("Work");
        let seen = tree.inspect(true).await.unwrap();
        let [(first, one), (second, two), (unasked, none)] = begun;
        let (first, second) = tokio::join!(
            seen.check_out_in((&commit, &[]), first),
            seen.check_out_in((&commit, &[]), second),
        );
        first.unwrap();
        second.unwrap();
        drop(unasked);
        for room in [one, two] {
            let lib = fs::read_to_string(room.join("src/lib.rs")).unwrap();
            assert_eq!(lib, "pub fn two() {}\n");
            assert_eq!(git(&room, ["rev-parse", "HEAD"]), commit.as_str());
            // The others are below, where somebody puts it together.
            assert!(!room.join("README.md").exists());
        }
        assert!(!none.with_file_name("repo.git").exists());
    }
}
