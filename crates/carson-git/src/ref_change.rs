//! Changes of refs, written as git writes them: behind a lock each, on the disk before anybody sees them.
//!
//! A `git update-ref` costs more than all that it does, and a firing changes refs five times. So libgit2 does it here,
//! and git itself where that cannot: it waits for locks, removes those that nobody holds ([`stale`]) and says what is wrong.

use std::fmt;
use std::path::Path;

use crate::oid::Oid;
use crate::stale;

/// One ref that is to be another, or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefChange {
    name: String,
    to: Option<Oid>,
    from: From,
}

/// What the ref must be still.
#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    Anything,
    Nothing,
    Commit(Oid),
}

impl RefChange {
    /// It points there, wherever it pointed.
    pub(crate) fn to(name: impl Into<String>, to: &Oid) -> Self {
        Self {
            name: name.into(),
            to: Some(to.clone()),
            from: From::Anything,
        }
    }

    /// It points there, if it still points where it did: `None` for one that must not be there.
    pub(crate) fn moved(name: impl Into<String>, to: &Oid, from: Option<&Oid>) -> Self {
        Self {
            from: from.cloned().map_or(From::Nothing, From::Commit),
            ..Self::to(name, to)
        }
    }

    /// It is gone, if it still points where it did.
    pub(crate) fn gone(name: impl Into<String>, from: &Oid) -> Self {
        Self {
            name: name.into(),
            to: None,
            from: From::Commit(from.clone()),
        }
    }
}

/// The line that `git update-ref --stdin` takes.
impl fmt::Display for RefChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            Some(to) => write!(f, "update {} {to}", self.name)?,
            None => write!(f, "delete {}", self.name)?,
        }
        match &self.from {
            From::Anything => writeln!(f),
            From::Nothing => writeln!(f, " {}", Oid::NONE),
            From::Commit(from) => writeln!(f, " {from}"),
        }
    }
}

/// Makes all of them or none, with the repository's locks held. Only in one that syncs what it writes
/// ([`Own::open`](crate::config::Own::open)).
///
/// # Errors
/// When one of them may not be made, somebody has one of the locks, or libgit2 sees a reason against it that git may not see.
pub(crate) fn make(
    repo: &git2::Repository,
    dir: &Path,
    changes: &[RefChange],
) -> Result<(), git2::Error> {
    let against = |why: &str| Err(git2::Error::from_str(why));
    let Some(_writing) = stale::writing(dir) else {
        return against("locks are being looked at");
    };
    let mut all = repo.transaction()?;
    for change in changes {
        all.lock_ref(&change.name)?;
    }
    for change in changes {
        let now = target(repo, &change.name)?;
        let wanted = match &change.from {
            From::Anything => true,
            From::Nothing => now.is_none(),
            From::Commit(from) => now == Some(from.git2()),
        };
        if !wanted {
            return against("it has moved");
        }
        if let Some(to) = &change.to {
            // libgit2 looks for neither.
            repo.find_commit(to.git2())?;
            if now.is_none() && !is_free(repo, &change.name)? {
                return against("another ref lies on its way");
            }
        }
    }
    let who = git2::Signature::now("Carson", "carson@localhost")?;
    for change in changes {
        match &change.to {
            Some(to) => all.set_target(&change.name, to.git2(), Some(&who), "")?,
            None => {
                // It goes with its ref; behind the lock nobody else writes it.
                repo.reflog_delete(&change.name)?;
                all.remove(&change.name)?;
            }
        }
    }
    all.commit()
}

fn target(repo: &git2::Repository, name: &str) -> Result<Option<git2::Oid>, git2::Error> {
    match repo.find_reference(name) {
        Ok(found) => match found.target() {
            Some(oid) => Ok(Some(oid)),
            None => Err(git2::Error::from_str("it is a symbolic ref")),
        },
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether no ref lies above or beneath one that is new.
fn is_free(repo: &git2::Repository, name: &str) -> Result<bool, git2::Error> {
    let above = Path::new(name).ancestors().skip(1);
    let above = above
        .filter_map(Path::to_str)
        .filter(|above| !above.is_empty());
    for above in above {
        match repo.find_reference(above) {
            Ok(_) => return Ok(false),
            Err(error) if error.code() == git2::ErrorCode::NotFound => {}
            // `refs` alone is no name of a ref.
            Err(error) if error.code() == git2::ErrorCode::InvalidSpec => {}
            Err(error) => return Err(error),
        }
    }
    let mut beneath = repo.references_glob(&format!("{name}/*"))?;
    Ok(beneath.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Own;
    use crate::fixture::{World, git};

    /// Makes them with libgit2 alone.
    fn made(world: &World, changes: &[RefChange]) -> Result<(), git2::Error> {
        let dir = world.kept().path().to_owned();
        let repo = Own::without_remote(dir.clone()).open().unwrap();
        assert!(Own::is_synced(&repo).unwrap());
        make(&repo, &dir, changes)
    }

    /// Two commits of the store.
    async fn two(world: &World) -> (Oid, Oid) {
        let tree = world.worktree("one").await;
        tree.put("a", "1");
        let first = tree.commit_seen("First").await;
        tree.put("a", "2");
        (first, tree.commit_seen("Second").await)
    }

    fn refs(world: &World, beneath: &str) -> String {
        let format = "--format=%(refname) %(objectname)";
        git(world.kept().path(), ["for-each-ref", format, beneath])
    }

    #[tokio::test]
    async fn all_of_them_are_made_or_none() {
        let world = World::new().await;
        let (first, second) = two(&world).await;
        let both = |from: Option<&Oid>, to: &Oid| {
            [
                RefChange::moved("refs/x/a", to, from),
                RefChange::moved("refs/x/b", to, from),
            ]
        };
        made(&world, &both(None, &first)).unwrap();
        // Only one of them is where it was.
        made(&world, &[RefChange::to("refs/x/b", &second)]).unwrap();
        let before = refs(&world, "refs/x");
        assert_eq!(before, format!("refs/x/a {first}\nrefs/x/b {second}"));
        assert!(made(&world, &both(Some(&first), &second)).is_err());
        assert!(made(&world, &both(None, &second)).is_err());
        let gone = ["refs/x/a", "refs/x/b"].map(|name| RefChange::gone(name, &first));
        assert!(made(&world, &gone).is_err());
        assert_eq!(refs(&world, "refs/x"), before);
        made(&world, &gone[..1]).unwrap();
        assert_eq!(refs(&world, "refs/x"), format!("refs/x/b {second}"));
        // Also what lies in one file with others.
        git(world.kept().path(), ["pack-refs", "--all"]);
        made(&world, &[RefChange::gone("refs/x/b", &second)]).unwrap();
        assert_eq!(refs(&world, "refs/x"), "");
        git(world.kept().path(), ["fsck", "--strict"]);
    }

    #[tokio::test]
    async fn what_was_written_of_a_ref_goes_with_it() {
        let world = World::new().await;
        let (first, second) = two(&world).await;
        let name = "refs/heads/deep/er/branch";
        let log = world.kept().path().join("logs").join(name);
        made(&world, &[RefChange::moved(name, &first, None)]).unwrap();
        made(&world, &[RefChange::moved(name, &second, Some(&first))]).unwrap();
        let lines = std::fs::read_to_string(&log).unwrap();
        assert_eq!(lines.lines().count(), 2, "{lines}");
        // git reads them.
        let said = git(world.kept().path(), ["reflog", "show", "--format=%H", name]);
        assert_eq!(said, format!("{second}\n{first}"));
        made(&world, &[RefChange::gone(name, &second)]).unwrap();
        // A name above it is free again, for git, too.
        git(
            world.kept().path(),
            ["update-ref", "refs/heads/deep", first.as_str()],
        );
    }

    #[tokio::test]
    async fn what_git_would_refuse_is_refused() {
        let world = World::new().await;
        let (first, _) = two(&world).await;
        made(&world, &[RefChange::to("refs/x/a", &first)]).unwrap();
        for packed in [false, true] {
            if packed {
                git(world.kept().path(), ["pack-refs", "--all", "--prune"]);
            }
            for on_its_way in ["refs/x/a/b", "refs/x/a/b/c", "refs/x"] {
                let change = RefChange::to(on_its_way, &first);
                assert!(made(&world, &[change]).is_err(), "{on_its_way}");
            }
        }
        let nowhere: Oid = "1".repeat(40).parse().unwrap();
        assert!(made(&world, &[RefChange::to("refs/x/c", &nowhere)]).is_err());
        let lock = world.kept().path().join("refs/x/d.lock");
        crate::fixture::write(&lock, "");
        assert!(made(&world, &[RefChange::to("refs/x/d", &first)]).is_err());
        assert!(lock.exists(), "it is somebody else's");
        assert_eq!(refs(&world, "refs/x"), format!("refs/x/a {first}"));
    }

    #[tokio::test]
    async fn nobody_changes_refs_while_somebody_looks_which_locks_may_go() {
        let world = World::new().await;
        let (first, _) = two(&world).await;
        let change = [RefChange::to("refs/x/a", &first)];
        let looks = std::fs::File::create(world.kept().path().with_extension("stale")).unwrap();
        looks.lock().unwrap();
        assert!(made(&world, &change).is_err());
        looks.unlock().unwrap();
        let writes = stale::writing(world.kept().path()).unwrap();
        // Others write beside us, and nobody looks meanwhile.
        made(&world, &change).unwrap();
        assert!(looks.try_lock().is_err());
        drop(writes);
        looks.try_lock().unwrap();
    }

    #[test]
    fn git_reads_them_line_by_line() {
        let (a, b): (Oid, Oid) = (
            "a".repeat(40).parse().unwrap(),
            "b".repeat(40).parse().unwrap(),
        );
        let lines = [
            RefChange::to("refs/x", &a),
            RefChange::moved("refs/x", &a, Some(&b)),
            RefChange::moved("refs/x", &a, None),
            RefChange::gone("refs/x", &b),
        ];
        let zero = Oid::NONE;
        assert_eq!(
            lines.map(|line| line.to_string()).concat(),
            format!(
                "update refs/x {a}\nupdate refs/x {a} {b}\nupdate refs/x {a} {zero}\ndelete refs/x {b}\n"
            )
        );
    }
}
