//! What the remote took from us is in the mirror at once: the next fetch need not bring it back.

use git2::{ObjectType, Repository, Sort, Tree};

use crate::config::Own;
use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::ref_change::RefChange;

/// More objects than these are left to the next fetch; git itself writes as many one by one
/// (`fetch.unpackLimit`).
const MOST: usize = 100;

/// So are more bytes than these.
const MOST_BYTES: usize = 4 << 20;

impl Mirror {
    /// Notes that a branch of the remote has this commit now, which was pushed there from the store: what a
    /// fetch would bring is taken over from there. `base` is the commit of the remote on which it was made.
    /// Whether it was noted: where it is large, or somebody fetches at this moment, a fetch does it.
    ///
    /// # Errors
    /// When one of the two cannot be read, or git fails: the mirror is as before, or has objects that nobody
    /// names.
    pub async fn note_pushed(
        &self,
        branch: &str,
        commit: &Oid,
        base: &Oid,
    ) -> Result<bool, GitError> {
        let Some(_lock) = self.try_lock()? else {
            return Ok(false);
        };
        let Some(before) = self.fetched(branch).await? else {
            return self.note(branch, commit, vec![base.git2()]).await;
        };
        // Whoever pushed since is ahead of us, and is fetched.
        match before == *commit || !self.kept().bare.descends(commit, &before).await? {
            true => Ok(before == *commit),
            false => {
                let known = vec![base.git2(), before.git2()];
                self.note(branch, commit, known).await
            }
        }
    }

    async fn note(
        &self,
        branch: &str,
        commit: &Oid,
        known: Vec<git2::Oid>,
    ) -> Result<bool, GitError> {
        let (kept, tip) = (self.kept(), commit.git2());
        let new = kept.bare.read(move |repo| objects(repo, tip, &known));
        let Some(new) = new.await? else {
            return Ok(false);
        };
        let written = self.bare.read(move |repo| {
            if !Own::is_synced(repo)? {
                return Ok(false);
            }
            let odb = repo.odb()?;
            // What is named is there before who names it.
            let mut all = new.iter().rev();
            all.try_for_each(|(kind, data)| odb.write(*kind, data).map(drop))?;
            Ok(true)
        });
        if !written.await? {
            return Ok(false);
        }
        let change = RefChange::to(format!("refs/remotes/origin/{branch}"), commit);
        self.bare.change_refs(vec![change]).await?;
        Ok(true)
    }
}

/// What an object is, and what it holds.
type Object = (ObjectType, Vec<u8>);

/// What the commit has beside what is known, each object behind those that name it; `None` where it is too large.
fn objects(
    repo: &Repository,
    tip: git2::Oid,
    known: &[git2::Oid],
) -> Result<Option<Vec<Object>>, git2::Error> {
    let Some(new) = New::of(repo, tip, known)? else {
        return Ok(None);
    };
    let read = |oid: &git2::Oid| {
        let object = new.odb.read(*oid)?;
        Ok((object.kind(), object.data().to_vec()))
    };
    new.objects
        .iter()
        .map(read)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Objects that are new, as many as are taken over.
struct New<'r> {
    repo: &'r Repository,
    odb: git2::Odb<'r>,
    objects: Vec<git2::Oid>,
    bytes: usize,
}

impl<'r> New<'r> {
    fn of(
        repo: &'r Repository,
        tip: git2::Oid,
        known: &[git2::Oid],
    ) -> Result<Option<Self>, git2::Error> {
        let odb = repo.odb()?;
        let mut new = Self {
            repo,
            odb,
            objects: Vec::new(),
            bytes: 0,
        };
        let mut walk = repo.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL)?;
        walk.push(tip)?;
        for oid in known {
            walk.hide(*oid)?;
        }
        for oid in walk {
            let commit = repo.find_commit(oid?)?;
            let parents = commit.parents().map(|parent| parent.tree());
            let parents = parents.collect::<Result<Vec<_>, _>>()?;
            if !new.add(commit.id())? || !new.tree(&commit.tree()?, &parents)? {
                return Ok(None);
            }
        }
        Ok(Some(new))
    }

    /// Whether there is room for it.
    fn add(&mut self, oid: git2::Oid) -> Result<bool, git2::Error> {
        let (size, _) = self.odb.read_header(oid)?;
        self.bytes = self.bytes.saturating_add(size);
        self.objects.push(oid);
        Ok(self.objects.len() <= MOST && self.bytes <= MOST_BYTES)
    }

    /// What a tree has that none of those had in the same place. Each that is entered counts, so that the
    /// bound is one for the depth, too.
    fn tree(&mut self, tree: &Tree<'_>, olds: &[Tree<'_>]) -> Result<bool, git2::Error> {
        if olds.iter().any(|old| old.id() == tree.id()) {
            return Ok(true);
        }
        if !self.add(tree.id())? {
            return Ok(false);
        }
        for entry in tree {
            let name = entry.name_bytes();
            let were: Vec<_> = olds
                .iter()
                .filter_map(|old| old.get_name_bytes(name))
                .map(|one| (one.id(), one.kind()))
                .collect();
            let is_known = were.iter().any(|(oid, _)| *oid == entry.id());
            let room = match entry.kind() {
                _ if is_known => true,
                Some(ObjectType::Tree) => {
                    let were = were
                        .iter()
                        .filter(|(_, kind)| *kind == Some(ObjectType::Tree));
                    let were = were.map(|(oid, _)| self.repo.find_tree(*oid));
                    let were = were.collect::<Result<Vec<_>, _>>()?;
                    self.tree(&self.repo.find_tree(entry.id())?, &were)?
                }
                Some(ObjectType::Blob) => self.add(entry.id())?,
                // A commit of a submodule lies elsewhere.
                _ => true,
            };
            if !room {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{World, git};

    /// What the mirror has on its own disk, and whether all of it hangs together.
    fn loose(world: &World) -> String {
        git(
            world.mirror.path(),
            ["fsck", "--connectivity-only", "--strict"],
        );
        git(world.mirror.path(), ["count-objects"])
    }

    #[tokio::test]
    async fn what_was_pushed_need_not_be_fetched() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        tree.put("deep/er/a", "1");
        tree.put("README.md", "# another\n");
        tree.commit_seen("First").await;
        tree.put("deep/b", "2");
        let tip = tree.commit_seen("Second").await;
        world.push(&tree.branch).await.unwrap();
        let (mirror, base) = (&world.mirror, &tree.base);
        assert!(mirror.note_pushed(&tree.branch, &tip, base).await.unwrap());
        assert_eq!(mirror.fetched(&tree.branch).await.unwrap(), Some(tip));
        let before = loose(&world);
        mirror.refresh().await.unwrap();
        assert_eq!(loose(&world), before, "nothing came");

        // The same branch goes on, and what is known already is not taken over again.
        tree.put("deep/b", "3");
        let next = tree.commit_seen("Third").await;
        world.push(&tree.branch).await.unwrap();
        assert!(mirror.note_pushed(&tree.branch, &next, base).await.unwrap());
        let before = loose(&world);
        mirror.refresh().await.unwrap();
        assert_eq!(loose(&world), before, "nothing came");
        assert_eq!(mirror.fetched(&tree.branch).await.unwrap(), Some(next));
    }

    #[tokio::test]
    async fn what_is_large_is_left_to_a_fetch() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        for file in 0..MOST {
            tree.put(&format!("many/{file}"), file.to_string());
        }
        let many = tree.commit_seen("Many").await;
        world.push(&tree.branch).await.unwrap();
        let (mirror, base) = (&world.mirror, &tree.base);
        let before = loose(&world);
        assert!(!mirror.note_pushed(&tree.branch, &many, base).await.unwrap());
        assert_eq!(loose(&world), before);
        assert_eq!(mirror.fetched(&tree.branch).await.unwrap(), None);

        let other = world.worktree("two").await;
        other.put("large", "x".repeat(MOST_BYTES + 1));
        let large = other.commit_seen("Large").await;
        world.push(&other.branch).await.unwrap();
        let noted = mirror.note_pushed(&other.branch, &large, base).await;
        assert!(!noted.unwrap());
        mirror.refresh().await.unwrap();
        assert_eq!(mirror.fetched(&tree.branch).await.unwrap(), Some(many));
        assert_eq!(mirror.fetched(&other.branch).await.unwrap(), Some(large));
    }

    #[tokio::test]
    async fn who_is_ahead_of_us_and_who_fetches_is_left_alone() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        tree.put("a", "1");
        let first = tree.commit_seen("First").await;
        tree.put("a", "2");
        let second = tree.commit_seen("Second").await;
        world.push(&tree.branch).await.unwrap();
        let (mirror, base) = (&world.mirror, &tree.base);
        {
            let _fetches = mirror.try_lock().unwrap().unwrap();
            assert!(
                !mirror
                    .note_pushed(&tree.branch, &second, base)
                    .await
                    .unwrap()
            );
        }
        mirror.refresh().await.unwrap();
        assert!(
            !mirror
                .note_pushed(&tree.branch, &first, base)
                .await
                .unwrap()
        );
        assert_eq!(
            mirror.fetched(&tree.branch).await.unwrap(),
            Some(second.clone())
        );
        assert!(
            mirror
                .note_pushed(&tree.branch, &second, base)
                .await
                .unwrap()
        );
    }
}
