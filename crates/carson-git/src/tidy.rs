//! What keeps a mirror small.

use std::time::Duration;

use crate::error::GitError;
use crate::mirror::Mirror;

impl Mirror {
    /// Packs the mirror and drops what no ref has reached for two weeks. Refs of salvage, branches
    /// of firings and the heads and indexes of worktrees all count. Objects that a bench borrows
    /// may be reachable from nowhere else, so this is for mirrors without benches.
    ///
    /// Fetches may go on beside it: git itself keeps two of these apart.
    ///
    /// # Errors
    /// When git fails, or it takes longer.
    pub async fn pack(&self, within: Duration) -> Result<(), GitError> {
        let pack = self.git("gc").within(within);
        let pack = pack.args(["--quiet", "--prune=2.weeks.ago"]);
        pack.text().await.map(drop)
    }

    /// Whether it was ever cloned.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path().join("HEAD").is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    #[tokio::test]
    async fn packing_keeps_every_ref_and_leaves_one_pack() {
        let world = World::new().await;
        let before = world.mirror.git("for-each-ref").text().await.unwrap();
        world.mirror.pack(Duration::from_secs(60)).await.unwrap();
        assert_eq!(
            world.mirror.git("for-each-ref").text().await.unwrap(),
            before
        );
        let count = world.mirror.git("count-objects").args(["-v"]);
        let count = count.text().await.unwrap();
        assert!(
            count.contains("count: 0\n") && count.contains("packs: 1\n"),
            "{count}"
        );
    }
}
