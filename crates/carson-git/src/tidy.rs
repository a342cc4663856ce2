//! What keeps a mirror small.

use std::time::Duration;

use crate::error::GitError;
use crate::idle_ref::IdleRef;
use crate::mirror::{BASES, Mirror};
use crate::oid::Oid;

impl Mirror {
    /// Packs the mirror and the store beside it, and drops what no ref has reached for two weeks.
    /// Objects that a bench borrows may be reachable from nowhere else, so this is for mirrors
    /// without benches.
    ///
    /// Fetches may go on beside it: git itself keeps two of these apart.
    ///
    /// # Errors
    /// When git fails, or it takes longer.
    pub async fn pack(&self, within: Duration) -> Result<(), GitError> {
        self.let_bases_go().await?;
        for bare in [&self.bare, &self.kept().bare] {
            if bare.path().join("HEAD").is_file() {
                let pack = bare.git("gc").within(within);
                pack.args(["--quiet", "--prune=2.weeks.ago"]).text().await?;
            }
        }
        Ok(())
    }

    /// Commits of the remote that nothing kept stands on need not be held any more.
    async fn let_bases_go(&self) -> Result<(), GitError> {
        let (held, kept) = (self.bare.read(bases).await?, self.kept());
        let mut idle = Vec::new();
        for base in held {
            let on_it = kept.bare.git("for-each-ref");
            let on_it = on_it.args(["--count=1", "--format=%(refname)", "--contains"]);
            if on_it.arg(base.as_str()).text().await?.trim().is_empty() {
                let name = format!("{BASES}{base}");
                idle.push(IdleRef { name, at: base });
            }
        }
        self.bare.delete_refs(&idle).await
    }

    /// Whether it was ever cloned.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path().join("HEAD").is_file()
    }
}

fn bases(repo: &git2::Repository) -> Result<Vec<Oid>, git2::Error> {
    let all = repo.references_glob(&format!("{BASES}*"))?;
    Ok(all
        .filter_map(|one| Some(one.ok()?.target()?.into()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    #[tokio::test]
    async fn packing_keeps_every_ref_and_leaves_one_pack() {
        let world = World::new().await;
        let before = world.mirror.bare.git("for-each-ref").text().await.unwrap();
        world.mirror.pack(Duration::from_secs(60)).await.unwrap();
        assert_eq!(
            world.mirror.bare.git("for-each-ref").text().await.unwrap(),
            before
        );
        let count = world.mirror.bare.git("count-objects").args(["-v"]);
        let count = count.text().await.unwrap();
        assert!(
            count.contains("count: 0\n") && count.contains("packs: 1\n"),
            "{count}"
        );
    }
}
