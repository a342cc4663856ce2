//! The commits of a branch, and when they were made, as they say themselves: read from the mirror as it was
//! fetched last.

use git2::Sort;

use crate::error::GitError;
use crate::merging::Sides;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// Commits of one side that are looked at.
const MOST: usize = 250;

impl Mirror {
    /// The newest commits that the head has and the base has not, with when each was made (seconds since
    /// 1970); the oldest first.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn commits(&self, sides: &Sides) -> Result<Vec<(Oid, i64)>, GitError> {
        let (head, base) = (sides.head.git2(), sides.base.git2());
        self.bare
            .read(move |repo| {
                let mut walk = repo.revwalk()?;
                walk.set_sorting(Sort::TOPOLOGICAL)?;
                walk.push(head)?;
                walk.hide(base)?;
                let mut found = Vec::new();
                for commit in walk.take(MOST) {
                    let commit = commit?;
                    let at = repo.find_commit(commit)?.time().seconds();
                    found.push((Oid::from(commit), at));
                }
                found.reverse();
                Ok(found)
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    #[tokio::test]
    async fn the_commits_of_a_branch_are_those_that_its_base_lacks() {
        let world = World::new().await;
        let base = world.mirror.resolve("main").await.unwrap();
        let one = world.upstream("carson/hand/1", "src/two.rs", "two\n");
        let two = world.upstream("carson/hand/1", "src/two.rs", "three\n");
        world.mirror.refresh().await.unwrap();
        let sides = Sides {
            head: two.clone(),
            base,
        };
        let found = world.mirror.commits(&sides).await.unwrap();
        let names: Vec<&Oid> = found.iter().map(|(commit, _)| commit).collect();
        assert_eq!(names, [&one, &two]);
        assert!(found.iter().all(|(_, at)| *at > 0), "{found:?}");
    }
}
