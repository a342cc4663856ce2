//! What takes a commit of a base back, made without a work tree: as a merge, of which the way back is one side.

use crate::error::GitError;
use crate::git::parse;
use crate::merging::Sides;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// What takes a commit back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// This commit, on top of the base. Nobody has it yet but the store.
    By(Oid),
    /// What came since changed the same lines.
    Conflicts,
    /// The base has nothing of it any more.
    Already,
}

impl Mirror {
    /// The commit of a base that was there before this one: of a merge, the base's own side. `None` for the
    /// first of all.
    ///
    /// # Errors
    /// When the mirror does not have it, or cannot be read.
    pub async fn commit_before(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        let commit = commit.git2();
        self.bare
            .read(move |repo| {
                let commit = repo.find_commit(commit)?;
                let before = commit.parent_ids().next();
                Ok(before.map(Oid::from))
            })
            .await
    }

    /// Makes the commit that takes `commit`, which is in the base, back there.
    ///
    /// # Errors
    /// When git fails.
    pub async fn take_back(
        &self,
        commit: &Oid,
        base: &Oid,
        message: &str,
    ) -> Result<TakenBack, GitError> {
        let Some(before) = self.commit_before(commit).await? else {
            return Ok(TakenBack::Conflicts);
        };
        let kept = self.kept();
        kept.make()?;
        let (was, is) = (
            self.bare.tree_of(&before).await?,
            self.bare.tree_of(base).await?,
        );
        // On top of it: so their common ancestor is the commit itself.
        let way_back = kept.bare.git("commit-tree").arg(was.as_str());
        let way_back = way_back.args(["-p", commit.as_str(), "-F", "-"]);
        let way_back = way_back.stdin(message.as_bytes().to_vec()).text().await?;
        let sides = Sides {
            head: parse(way_back.trim())?,
            base: base.clone(),
        };
        let tree = match self.kept().bare.merged_tree(&sides).await? {
            None => return Ok(TakenBack::Conflicts),
            Some(tree) if tree == is => return Ok(TakenBack::Already),
            Some(tree) => tree,
        };
        let made = kept.bare.git("commit-tree").arg(tree.as_str());
        let made = made.args(["-p", base.as_str(), "-F", "-"]);
        let made = made.stdin(message.as_bytes().to_vec()).text().await?;
        Ok(TakenBack::By(parse(made.trim())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    async fn tip(world: &World) -> Oid {
        world.mirror.refresh().await.unwrap();
        world.mirror.resolve("main").await.unwrap()
    }

    #[tokio::test]
    async fn a_commit_is_taken_back_and_what_came_since_stays() {
        let world = World::new().await;
        let first = tip(&world).await;
        let bad = world.upstream("main", "src/bad.rs", "bad\n");
        let later = world.upstream("main", "src/later.rs", "later\n");
        assert_eq!(tip(&world).await, later);
        let mirror = &world.mirror;
        assert_eq!(mirror.commit_before(&bad).await.unwrap(), Some(first));
        let done = mirror.take_back(&bad, &later, "Back\n").await.unwrap();
        let TakenBack::By(commit) = done else {
            panic!("{done:?}");
        };
        let kept = mirror.kept();
        let diff = kept.diff(later.as_str(), commit.as_str()).await.unwrap();
        let diff = diff.unwrap();
        assert!(
            diff.contains("-bad") && !diff.contains("later.rs"),
            "{diff}"
        );
        // There is nothing left of it.
        let pushed = kept.push("again", &commit, &[]).await;
        assert!(pushed.is_ok(), "{pushed:?}");
        mirror.refresh().await.unwrap();
        let again = mirror.take_back(&bad, &commit, "Back\n").await.unwrap();
        assert_eq!(again, TakenBack::Already);
    }

    #[tokio::test]
    async fn what_was_changed_since_is_not_taken_back() {
        let world = World::new().await;
        let bad = world.upstream("main", "src/bad.rs", "bad\n");
        let since = world.upstream("main", "src/bad.rs", "better\n");
        assert_eq!(tip(&world).await, since);
        let done = world.mirror.take_back(&bad, &since, "Back\n").await;
        assert_eq!(done.unwrap(), TakenBack::Conflicts);
    }
}
