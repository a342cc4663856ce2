//! How pushed work came into its base, and what takes it back there: read from the mirror as it was
//! fetched last.

use git2::{Repository, Sort};

use crate::error::GitError;
use crate::merging::MOST;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// Work that may have come into a base.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The commit that was pushed last.
    pub pushed: &'a Oid,
    /// Its branch, which may be gone.
    pub branch: &'a str,
    /// The branch that it is for.
    pub base: &'a str,
}

/// What of it came there, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landed {
    /// The last commit that came in; `None` where nobody can say any more.
    pub offered: Option<Oid>,
    /// The commit of the base that brought it: a merge, or the work's own last one where the base moved
    /// straight to it. `None` where it was written anew: squashed, or picked.
    pub by: Option<Oid>,
}

/// A commit with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worded {
    /// When it was made, as it says itself: seconds since 1970.
    pub made_at: i64,
    /// Its message.
    pub message: String,
}

impl Mirror {
    /// How work that was merged came into its base.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn landed(&self, work: Offered<'_>) -> Result<Landed, GitError> {
        let tip = self.fetched(work.branch).await?;
        let Some(base) = self.fetched(work.base).await? else {
            return Ok(Landed::default());
        };
        let (pushed, at) = (work.pushed.git2(), base.git2());
        let brought = self
            .bare
            .read(move |repo| brought(repo, pushed, at))
            .await?;
        let Some((by, side)) = brought else {
            // Written anew: what the branch has is what a person saw last.
            return Ok(Landed {
                offered: tip,
                by: None,
            });
        };
        if let Some(side) = side {
            return Ok(Landed {
                offered: Some(side),
                by: Some(by),
            });
        }
        // The base moved straight to it, and perhaps to more of the branch behind it.
        let last = match tip {
            Some(tip) if self.is_between(work.pushed, &tip, &base).await? => tip,
            _ => by,
        };
        Ok(Landed {
            offered: Some(last.clone()),
            by: Some(last),
        })
    }

    /// Whether a commit has `from` in its history and is itself in that of `to`.
    async fn is_between(&self, from: &Oid, commit: &Oid, to: &Oid) -> Result<bool, GitError> {
        Ok(self.bare.descends(commit, from).await? && self.bare.descends(to, commit).await?)
    }

    /// The newest commits of a base, made since then (seconds since 1970), that have a line which begins
    /// as those do that take something back.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn taking_back(&self, base: &str, since: i64) -> Result<Vec<Worded>, GitError> {
        let Some(base) = self.fetched(base).await? else {
            return Ok(Vec::new());
        };
        let base = base.git2();
        self.bare
            .read(move |repo| taking_back(repo, base, since))
            .await
    }
}

/// The first commit on a base's own line that has `pushed` in its history, and which of its sides
/// brought that; no side where the base moved straight to it.
fn brought(
    repo: &Repository,
    pushed: git2::Oid,
    base: git2::Oid,
) -> Result<Option<(Oid, Option<Oid>)>, git2::Error> {
    if repo.find_commit(pushed).is_err() {
        return Ok(None);
    }
    let mut walk = repo.revwalk()?;
    walk.simplify_first_parent()?;
    walk.push(base)?;
    let line: Vec<git2::Oid> = walk.take(MOST).collect::<Result<_, _>>()?;
    let has = |commit: git2::Oid| {
        commit == pushed || repo.graph_descendant_of(commit, pushed).unwrap_or(false)
    };
    // The newest come first, and what one of them has all newer ones have.
    let newer = line.partition_point(|commit| has(*commit));
    let Some(by) = newer.checked_sub(1).map(|last| line[last]) else {
        return Ok(None);
    };
    let sides = repo.find_commit(by)?;
    let side = sides.parent_ids().skip(1).find(|side| has(*side));
    let straight = by == pushed;
    // Otherwise the line was cut off before the commit that brought it.
    let known = straight || side.is_some();
    Ok(known.then(|| (by.into(), side.filter(|_| !straight).map(Oid::from))))
}

fn taking_back(repo: &Repository, base: git2::Oid, since: i64) -> Result<Vec<Worded>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TIME)?;
    walk.push(base)?;
    let mut found = Vec::new();
    for oid in walk.take(MOST) {
        let commit = repo.find_commit(oid?)?;
        let made_at = commit.time().seconds();
        if made_at < since {
            break;
        }
        let message = String::from_utf8_lossy(commit.message_bytes());
        let takes_back =
            |line: &str| line.starts_with("This reverts ") || line.starts_with("Reverts ");
        if message.lines().any(takes_back) {
            found.push(Worded {
                made_at,
                message: message.into_owned(),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{World, git, write};

    /// The seed's commit on top of what it has checked out.
    fn commit(world: &World, path: &str, message: &str) -> Oid {
        write(&world.seed().join(path), path);
        git(&world.seed(), ["add", "--all"]);
        git(&world.seed(), ["commit", "--quiet", "-m", message]);
        head(world)
    }

    fn head(world: &World) -> Oid {
        git(&world.seed(), ["rev-parse", "HEAD"]).parse().unwrap()
    }

    fn run<const N: usize>(world: &World, args: [&str; N]) {
        git(&world.seed(), args);
    }

    /// A branch with one commit of the fleet's.
    fn work(world: &World, branch: &str) -> Oid {
        run(world, ["checkout", "--quiet", "-b", branch, "main"]);
        commit(world, &format!("{branch}.txt"), "Work")
    }

    async fn landed(world: &World, pushed: &Oid, branch: &str) -> Landed {
        run(
            world,
            ["push", "--quiet", "--force", "--all", "../origin.git"],
        );
        world.mirror.refresh().await.unwrap();
        let base = "main";
        world
            .mirror
            .landed(Offered {
                pushed,
                branch,
                base,
            })
            .await
            .unwrap()
    }

    fn by(offered: &Oid, by: &Oid) -> Landed {
        Landed {
            offered: Some(offered.clone()),
            by: Some(by.clone()),
        }
    }

    #[tokio::test]
    async fn a_merge_says_what_it_brought_though_the_branch_goes_on_or_goes() {
        let world = World::new().await;
        let pushed = work(&world, "one");
        assert_eq!(landed(&world, &pushed, "one").await.by, None, "not yet");
        run(&world, ["checkout", "--quiet", "main"]);
        run(
            &world,
            ["merge", "--quiet", "--no-ff", "-m", "Merge", "one"],
        );
        let merge = head(&world);
        commit(&world, "later.txt", "Later");
        assert_eq!(landed(&world, &pushed, "one").await, by(&pushed, &merge));
        run(&world, ["checkout", "--quiet", "one"]);
        commit(&world, "more.txt", "More, too late");
        assert_eq!(landed(&world, &pushed, "one").await, by(&pushed, &merge));

        let second = work(&world, "two");
        let person = commit(&world, "person.txt", "Mine");
        run(&world, ["checkout", "--quiet", "main"]);
        run(
            &world,
            ["merge", "--quiet", "--no-ff", "-m", "Merge", "two"],
        );
        let merge = head(&world);
        assert_eq!(landed(&world, &second, "gone").await, by(&person, &merge));
    }

    #[tokio::test]
    async fn a_base_that_moved_straight_to_it_may_have_moved_further() {
        let world = World::new().await;
        let pushed = work(&world, "one");
        run(&world, ["checkout", "--quiet", "main"]);
        run(&world, ["merge", "--quiet", "--ff-only", "one"]);
        assert_eq!(landed(&world, &pushed, "one").await, by(&pushed, &pushed));
        let second = work(&world, "two");
        let person = commit(&world, "person.txt", "Mine");
        run(&world, ["checkout", "--quiet", "main"]);
        run(&world, ["merge", "--quiet", "--ff-only", "two"]);
        assert_eq!(landed(&world, &second, "two").await, by(&person, &person));
        // Whether that was the branch's nobody knows without it.
        assert_eq!(landed(&world, &second, "gone").await, by(&second, &second));
    }

    #[tokio::test]
    async fn what_was_squashed_is_what_the_branch_has_now() {
        let world = World::new().await;
        let pushed = work(&world, "one");
        run(&world, ["checkout", "--quiet", "main"]);
        run(&world, ["merge", "--quiet", "--squash", "one"]);
        run(&world, ["commit", "--quiet", "-m", "Squashed"]);
        let found = landed(&world, &pushed, "one").await;
        assert_eq!(
            found,
            Landed {
                offered: Some(pushed.clone()),
                by: None
            }
        );
        assert_eq!(landed(&world, &pushed, "gone").await, Landed::default());
        let base = "none";
        let nowhere = Offered {
            pushed: &pushed,
            branch: "one",
            base,
        };
        assert_eq!(
            world.mirror.landed(nowhere).await.unwrap(),
            Landed::default()
        );
    }

    #[tokio::test]
    async fn commits_that_take_something_back_are_found_by_their_words_since_then() {
        let world = World::new().await;
        let wrong = commit(&world, "wrong.txt", "Wrong");
        run(&world, ["revert", "--no-edit", wrong.as_str()]);
        commit(&world, "word.txt", "Say that this reverts nothing");
        run(&world, ["push", "--quiet", "../origin.git", "HEAD:main"]);
        world.mirror.refresh().await.unwrap();
        let since = |at| world.mirror.taking_back("main", at);
        let found = since(0).await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        let says = format!("This reverts commit {wrong}.");
        assert!(found[0].message.contains(&says), "{found:?}");
        let after = found[0].made_at + 3_600;
        assert_eq!(since(after).await.unwrap(), []);
        let none = world.mirror.taking_back("none", 0).await;
        assert_eq!(none.unwrap(), []);
    }
}
