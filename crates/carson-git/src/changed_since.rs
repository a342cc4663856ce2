//! What came into a base lately: read from the mirror as it was fetched last.

use std::collections::BTreeSet;

use git2::Repository;

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// Commits of a base's own line that are looked at: months of a busy repository.
const MOST: usize = 10_000;
/// Files that are told.
const FILES: usize = 100_000;

impl Mirror {
    /// The files that the commits of a base's own line changed since then (seconds since 1970): what a merge
    /// brought counts by the time of the merge.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn changed_since(
        &self,
        base: &Oid,
        since: i64,
    ) -> Result<BTreeSet<String>, GitError> {
        let base = base.git2();
        self.bare
            .read(move |repo| changed_since(repo, base, since))
            .await
    }
}

fn changed_since(
    repo: &Repository,
    base: git2::Oid,
    since: i64,
) -> Result<BTreeSet<String>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.simplify_first_parent()?;
    walk.push(base)?;
    let mut changed = BTreeSet::new();
    for oid in walk.take(MOST) {
        let commit = repo.find_commit(oid?)?;
        // A clock that was wrong for one of them says nothing of the older ones.
        if commit.time().seconds() < since {
            continue;
        }
        let before = match commit.parent(0) {
            Ok(parent) => Some(parent.tree()?),
            Err(_) => None,
        };
        let diff = repo.diff_tree_to_tree(before.as_ref(), Some(&commit.tree()?), None)?;
        let paths = diff.deltas().filter_map(|delta| {
            let path = delta.new_file().path()?;
            Some(path.to_str()?.to_owned())
        });
        let room = FILES.saturating_sub(changed.len());
        changed.extend(paths.take(room));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{World, git, write};

    #[tokio::test]
    async fn what_came_lately_counts_with_all_that_a_merge_brought() {
        let world = World::new().await;
        let seed = world.seed();
        let commit = |path: &str| {
            write(&seed.join(path), path);
            git(&seed, ["add", "--all"]);
            git(&seed, ["commit", "--quiet", "-m", path]);
        };
        // Everything so far becomes one commit of long ago.
        let tree = git(&seed, ["rev-parse", "HEAD^{tree}"]);
        let who = "Agent <agent@example.org> 1000000000 +0000";
        let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nOld\n");
        let file = world.dir.path().join("old");
        write(&file, text);
        let args = ["hash-object", "-t", "commit", "-w", file.to_str().unwrap()];
        let old = git(&seed, args);
        git(&seed, ["reset", "--quiet", "--hard", &old]);
        git(&seed, ["checkout", "--quiet", "-b", "side"]);
        commit("src/side.rs");
        git(&seed, ["checkout", "--quiet", "-"]);
        commit("src/main.rs");
        git(&seed, ["merge", "--quiet", "--no-edit", "side"]);
        let push = ["push", "--quiet", "--force", "../origin.git", "HEAD:main"];
        git(&seed, push);
        world.mirror.refresh().await.unwrap();
        let base = world.mirror.resolve("main").await.unwrap();
        let all = |since| world.mirror.changed_since(&base, since);
        let lately = all(1_000_000_001).await.unwrap();
        let lately: Vec<&str> = lately.iter().map(String::as_str).collect();
        assert_eq!(lately, ["src/main.rs", "src/side.rs"]);
        let ever = all(0).await.unwrap();
        assert!(ever.contains("src/lib.rs"), "{ever:?}");
        assert!(all(i64::MAX).await.unwrap().is_empty());
    }
}
