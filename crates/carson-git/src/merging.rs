//! Whether the work of a branch is in its base, and how it comes there when a person asks.
//!
//! Carson pushes no protected branch by itself. A merge is an operator's act, for a forge that holds no
//! branches: made in the store, from the base as the remote has it, and pushed without force.

use git2::Repository;

use crate::bare::Bare;
use crate::error::GitError;
use crate::git::{Git, detail, parse};
use crate::mirror::Mirror;
use crate::oid::Oid;

/// The two sides of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// What is to come in.
    pub head: Oid,
    /// Where it is to come.
    pub base: Oid,
}

/// Commits of a base that are looked at: months of a busy repository.
pub(crate) const MOST: usize = 10_000;

/// Whether a head has changes of its own, or commits that a merge brought into the base: it is none of those at which the base
/// itself once stood.
fn brings_something(
    repo: &Repository,
    head: git2::Oid,
    base: git2::Oid,
) -> Result<bool, git2::Error> {
    let Ok(fork) = repo.merge_base(head, base) else {
        return Ok(true);
    };
    if fork != head {
        let tree = |oid| repo.find_commit(oid).map(|commit| commit.tree_id());
        return Ok(tree(head)? != tree(fork)?);
    }
    let mut line = repo.revwalk()?;
    line.push(base)?;
    line.simplify_first_parent()?;
    Ok(!line.take(MOST).flatten().any(|oid| oid == head))
}

/// A file that differs between the two. One that was renamed is one that went and one that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path.
    pub path: String,
    /// The base does not have it.
    pub is_new: bool,
    /// The head does not have it.
    pub is_gone: bool,
    /// Lines that come; 0 for what is no text.
    pub additions: u64,
    /// Lines that go.
    pub deletions: u64,
}

impl Mirror {
    /// Where a branch of the remote stood at the last fetch.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn fetched(&self, branch: &str) -> Result<Option<Oid>, GitError> {
        let name = format!("refs/remotes/origin/{branch}");
        self.bare.ref_target(&name).await
    }

    /// Whether the work of a branch is in its base: `head` is where the branch stands, `pushed` what was pushed there at last. A
    /// branch that was set back to the base, or beside it with nothing in it, tells of no merge: then what was pushed decides.
    ///
    /// # Errors
    /// When git fails.
    pub async fn has_come_in(&self, sides: &Sides, pushed: Option<&Oid>) -> Result<bool, GitError> {
        let Sides { head, base } = sides.clone();
        let (at, to) = (head.git2(), base.git2());
        let brings = move |repo: &Repository| brings_something(repo, at, to);
        match pushed.filter(|pushed| **pushed != head) {
            Some(pushed) if !self.kept().bare.read(brings).await? => {
                let head = pushed.clone();
                self.is_merged(&Sides { head, base }).await
            }
            _ => self.is_merged(sides).await,
        }
    }

    /// Whether the base has all that the head brings: in its history, or as changes that a person
    /// squashed or picked, so that merging it would change nothing.
    ///
    /// # Errors
    /// When git fails.
    pub async fn is_merged(&self, sides: &Sides) -> Result<bool, GitError> {
        let bare = self.kept().bare;
        if bare.descends(&sides.base, &sides.head).await? {
            return Ok(true);
        }
        // What nobody has any more can be in no base.
        if !bare.has_commit(&sides.head).await? {
            return Ok(false);
        }
        let merged = self.kept().bare.merged_tree(sides).await?;
        Ok(merged == Some(bare.tree_of(&sides.base).await?))
    }

    /// Merges the head into the base's branch and pushes that; the remote's new commit.
    ///
    /// # Errors
    /// When they conflict, or the remote refuses or cannot be reached.
    pub async fn merge(&self, sides: &Sides, branch: &str, message: &str) -> Result<Oid, GitError> {
        let kept = self.kept();
        let Some(tree) = self.kept().bare.merged_tree(sides).await? else {
            return Err(GitError::Conflict {
                branch: branch.to_owned(),
            });
        };
        let commit = kept.bare.git("commit-tree").arg(tree.as_str());
        let commit = commit.args(["-p", sides.base.as_str(), "-p", sides.head.as_str()]);
        // The message holds words of the outside: it is read, not an argument.
        let commit = commit.args(["-F", "-"]).stdin(message.as_bytes().to_vec());
        let commit = parse(commit.text().await?.trim())?;
        kept.push_merged(branch, &commit).await?;
        Ok(commit)
    }

    /// What the head changes since it left the base, as a diff.
    ///
    /// # Errors
    /// When git fails, or the diff is larger than anybody reads.
    pub async fn diff(&self, sides: &Sides) -> Result<String, GitError> {
        let Sides { head, base } = sides;
        let diff = self.kept().bare.git("diff").args([
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            &format!("{base}...{head}"),
            "--",
        ]);
        diff.text().await
    }

    /// Whether both sides changed the same lines.
    ///
    /// # Errors
    /// When git fails.
    pub async fn conflicts(&self, sides: &Sides) -> Result<bool, GitError> {
        Ok(self.kept().bare.merged_tree(sides).await?.is_none())
    }

    /// The files that the head changes since it left the base.
    ///
    /// # Errors
    /// When git fails, or they are more than anybody reads.
    pub async fn changed(&self, sides: &Sides) -> Result<Vec<Changed>, GitError> {
        let Sides { head, base } = sides;
        let range = format!("{base}...{head}");
        let ask = |how: &'static str| {
            let diff = self.kept().bare.git("diff");
            diff.args(["--no-ext-diff", "--no-textconv", "--no-renames", "-z", how])
                .args([range.as_str(), "--"])
        };
        let words = ask("--name-status").text().await?;
        let numbers = ask("--numstat").text().await?;
        let mut words = words.split('\0').filter(|field| !field.is_empty());
        let mut all = Vec::new();
        for line in numbers.split('\0').filter(|line| !line.is_empty()) {
            // Both are in the order of the paths. A file that is no text has `-` for its lines.
            let mut fields = line.splitn(3, '\t');
            let mut lines = || fields.next().and_then(|count| count.parse().ok());
            let (additions, deletions) = (lines().unwrap_or(0), lines().unwrap_or(0));
            let path = fields.next().unwrap_or_default().to_owned();
            let word = words.next().unwrap_or_default().to_owned();
            words.next();
            all.push(Changed {
                path,
                is_new: word == "A",
                is_gone: word == "D",
                additions,
                deletions,
            });
        }
        Ok(all)
    }
}

impl Bare {
    /// Whether they have a commit in common.
    pub(crate) async fn are_related(&self, sides: &Sides) -> Result<bool, GitError> {
        let (head, base) = (sides.head.git2(), sides.base.git2());
        self.read(move |repo| match repo.merge_base(head, base) {
            Ok(_) => Ok(true),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(false),
            Err(error) => Err(error),
        })
        .await
    }

    /// The tree of the merge; `None` where they conflict.
    pub(crate) async fn merged_tree(
        &self,
        Sides { head, base }: &Sides,
    ) -> Result<Option<Oid>, GitError> {
        let merge: Git = self.git("merge-tree");
        let merge = merge.args([
            "--write-tree",
            "--no-messages",
            base.as_str(),
            head.as_str(),
        ]);
        let done = merge.finish().await?;
        let said = done.stdout.text();
        match (done.success(), said.lines().next()) {
            (true, Some(tree)) => parse(tree).map(Some),
            // Then too it names a tree, in which the conflicts are marked.
            (false, Some(tree)) if tree.parse::<Oid>().is_ok() => Ok(None),
            _ => Err(GitError::Failed {
                verb: "merge-tree".into(),
                detail: detail(&done),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{World, git, mirror, write};

    #[tokio::test]
    async fn a_branch_is_merged_by_its_commits_or_by_its_changes() {
        let world = World::new().await;
        let first = world.upstream("carson/hand/1", "src/two.rs", "two\n");
        let base = world.mirror.resolve("main").await.unwrap();
        let head = |oid: &Oid, base: &Oid| Sides {
            head: oid.clone(),
            base: base.clone(),
        };
        world.mirror.refresh().await.unwrap();
        let sides = head(&first, &base);
        assert!(!world.mirror.is_merged(&sides).await.unwrap());
        let diff = world.mirror.diff(&sides).await.unwrap();
        assert!(diff.contains("+two"), "{diff}");
        assert!(!world.mirror.conflicts(&sides).await.unwrap());
        let changed = Changed {
            path: "src/two.rs".into(),
            is_new: true,
            is_gone: false,
            additions: 1,
            deletions: 0,
        };
        assert_eq!(world.mirror.changed(&sides).await.unwrap(), [changed]);
        // A person squashes: the same change, another commit.
        let squashed = world.upstream("main", "src/two.rs", "two\n");
        world.mirror.refresh().await.unwrap();
        assert!(
            world
                .mirror
                .is_merged(&head(&first, &squashed))
                .await
                .unwrap()
        );
        // Carson merges, because a person asks.
        let second = world.upstream("carson/hand/2", "src/three.rs", "three\n");
        world.mirror.refresh().await.unwrap();
        let sides = head(&second, &squashed);
        let merged = world
            .mirror
            .merge(&sides, "main", "Merge it")
            .await
            .unwrap();
        world.mirror.refresh().await.unwrap();
        assert_eq!(world.mirror.resolve("main").await.unwrap(), merged);
        assert!(
            world
                .mirror
                .is_merged(&head(&second, &merged))
                .await
                .unwrap()
        );
        // Nobody wins a conflict.
        git(&world.seed(), ["checkout", "--quiet", "main"]);
        let other = world.upstream("carson/hand/3", "src/three.rs", "four\n");
        world.mirror.refresh().await.unwrap();
        let sides = head(&other, &merged);
        assert!(!world.mirror.is_merged(&sides).await.unwrap());
        assert!(world.mirror.conflicts(&sides).await.unwrap());
        let refused = world.mirror.merge(&sides, "main", "Merge it").await;
        assert!(
            matches!(refused, Err(GitError::Conflict { .. })),
            "{refused:?}"
        );
        // What is gone is in nothing.
        let gone = head(&"f".repeat(40).parse().unwrap(), &merged);
        assert!(!world.mirror.is_merged(&gone).await.unwrap());
    }

    /// Somebody sets the branch of a pull request back, or puts something empty in its place: nothing of it is in the base.
    #[tokio::test]
    async fn a_branch_that_was_set_back_tells_of_no_merge() {
        let world = World::new().await;
        let pushed = world.upstream("carson/hand/1", "src/two.rs", "two\n");
        world.mirror.refresh().await.unwrap();
        let main = world.mirror.resolve("main").await.unwrap();
        let seed = world.seed();
        let tree = format!("{main}^{{tree}}");
        let empty = git(
            &seed,
            ["commit-tree", &tree, "-p", main.as_str(), "-m", "Empty"],
        );
        let empty: Oid = empty.trim().parse().unwrap();
        git(
            &seed,
            [
                "push",
                "--quiet",
                "../origin.git",
                &format!("{empty}:refs/heads/empty"),
            ],
        );
        world.mirror.refresh().await.unwrap();
        let come_in = async |head: &Oid, base: &Oid| {
            let (head, base) = (head.clone(), base.clone());
            let sides = Sides { head, base };
            world
                .mirror
                .has_come_in(&sides, Some(&pushed))
                .await
                .unwrap()
        };
        for head in [&main, &empty] {
            assert!(!come_in(head, &main).await, "{head}");
        }
        // Once what was pushed is there, it is, wherever the branch stands.
        let sides = Sides {
            head: pushed.clone(),
            base: main.clone(),
        };
        let merged = world
            .mirror
            .merge(&sides, "main", "Merge it")
            .await
            .unwrap();
        world.mirror.refresh().await.unwrap();
        for head in [&main, &merged, &pushed] {
            assert!(come_in(head, &merged).await, "{head}");
        }
    }

    /// The remote is somebody's checkout, as `carson init` takes it.
    #[tokio::test]
    async fn a_branch_that_is_checked_out_takes_its_files_with_it_or_stays() {
        let world = World::bare();
        let seed = world.seed();
        git(&seed, ["checkout", "--quiet", "-B", "main"]);
        let mirror = mirror(&world.dir.path().join("home/seed.git"), &seed);
        let sides = async |branch: &str, path: &str| {
            git(&seed, ["checkout", "--quiet", "-b", branch]);
            write(&seed.join(path), "new\n");
            git(&seed, ["add", "--all"]);
            git(&seed, ["commit", "--quiet", "-m", "Work"]);
            git(&seed, ["checkout", "--quiet", "main"]);
            mirror.refresh().await.unwrap();
            Sides {
                head: mirror.fetched(branch).await.unwrap().unwrap(),
                base: mirror.resolve("main").await.unwrap(),
            }
        };
        let first = sides("carson/hand/1", "one.txt").await;
        let merged = mirror.merge(&first, "main", "Merge it").await.unwrap();
        assert_eq!(git(&seed, ["rev-parse", "HEAD"]), merged.as_str());
        assert_eq!(git(&seed, ["status", "--porcelain"]), "");
        assert!(seed.join("one.txt").is_file());

        // What somebody works on there is touched by nothing: a file that git knows, and one that it does not.
        let second = sides("carson/hand/2", "two.txt").await;
        for (path, words) in [("README.md", "unstaged"), ("two.txt", "Could not update")] {
            let before = git(&seed, ["status", "--porcelain"]);
            write(&seed.join(path), "mine\n");
            let refused = mirror.merge(&second, "main", "Merge it").await;
            assert!(
                matches!(&refused, Err(GitError::WorkTreeChanged { detail, .. }) if detail.contains(words)),
                "{refused:?}"
            );
            assert_eq!(std::fs::read_to_string(seed.join(path)).unwrap(), "mine\n");
            assert_eq!(git(&seed, ["rev-parse", "HEAD"]), merged.as_str());
            git(&seed, ["checkout", "--quiet", "--", "README.md"]);
            assert_eq!(before, "");
        }
        std::fs::remove_file(seed.join("two.txt")).unwrap();
        mirror.merge(&second, "main", "Merge it").await.unwrap();
        assert!(seed.join("two.txt").is_file());
    }
}
