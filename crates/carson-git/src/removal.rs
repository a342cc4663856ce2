//! What a session left is removed, when it is saved.

use std::convert::Infallible;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_proc::inspector::{Desk, InspectError, Inspector};
use tracing::warn;

use crate::error::{GitError, io};
use crate::idle_ref::IdleRef;
use crate::inspect::remove::Remove;
use crate::oid::Oid;
use crate::salvaged::Salvaged;
use crate::scratch::{self, ScratchDir};
use crate::seen::{Seen, bounds};
use crate::worktree::Worktree;

impl Seen {
    /// Takes the directory and the firing's own repository out of sight: nothing in the bench is
    /// needed any more, and whoever has it may remove it as a whole ([`remove_tree`]). The branch goes
    /// only when it is at the base, or the remote says that it has the same commit; of `pushed` it has
    /// just said so.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is changed.
    pub async fn put_away(&self, pushed: Option<&Oid>) -> Result<(), GitError> {
        let kept = self.worktree.kept.clone();
        let idle = self.put_aside(pushed).await?;
        kept.delete_refs(&idle).await
    }

    /// The same, but the refs that nothing needs any more are given back: whoever removes many
    /// worktrees deletes the refs of all of them at once.
    ///
    /// # Errors
    /// When something in it is not saved: then nothing is changed.
    pub async fn put_aside(&self, pushed: Option<&Oid>) -> Result<Vec<IdleRef>, GitError> {
        if let Salvaged::No { why } = self.is_salvaged().await? {
            return Err(GitError::NotSalvaged {
                path: self.worktree.path.clone(),
                why,
            });
        }
        self.keep_unreferenced().await?;
        let tree = &self.worktree;
        for path in [tree.path.clone(), tree.repository()] {
            out_of_sight(&path)?;
        }
        tree.idle_refs(pushed).await
    }
}

impl Worktree {
    async fn idle_refs(&self, pushed: Option<&Oid>) -> Result<Vec<IdleRef>, GitError> {
        let mut idle = Vec::new();
        let begun = self.begun_at().await?;
        self.idle_ref(self.to_sign_ref(), &mut idle).await?;
        self.idle_ref(self.begin_ref(), &mut idle).await?;
        let Some(at) = self.branch_tip().await? else {
            return Ok(idle);
        };
        let left = self.leaves_as(&at).await?;
        if let Some(on_top) = self.own_commit(&at).await? {
            self.idle_ref(self.signed_ref(&on_top), &mut idle).await?;
        }
        self.idle_ref(self.own_ref(&at), &mut idle).await?;
        self.idle_ref(self.signed_ref(&at), &mut idle).await?;
        if at == self.base
            || begun.as_ref() == Some(&at)
            || pushed == Some(&left)
            || self.is_on_remote(&left).await
        {
            let name = self.branch_ref();
            idle.push(IdleRef { name, at });
            self.idle_ref(self.remote_ref(), &mut idle).await?;
        }
        self.idle_ref(self.seen_ref(), &mut idle).await?;
        Ok(idle)
    }

    async fn idle_ref(&self, name: String, idle: &mut Vec<IdleRef>) -> Result<(), GitError> {
        if let Some(at) = self.kept.bare.ref_target(&name).await? {
            idle.push(IdleRef { name, at });
        }
        Ok(())
    }

    /// Asks the remote; no answer is no.
    async fn is_on_remote(&self, tip: &Oid) -> bool {
        match self.mirror.remote_head(&self.branch).await {
            Ok(found) => found.as_ref() == Some(tip),
            Err(error) => {
                warn!(branch = %self.branch, %error, "the branch is still kept");
                false
            }
        }
    }
}

/// Renames a directory before it is removed: one that is half removed would look like a session that
/// deleted files.
fn out_of_sight(path: &Path) -> Result<(), GitError> {
    let mut gone = path.as_os_str().to_owned();
    gone.push(".gone");
    match fs::rename(path, PathBuf::from(gone)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| io(path, source)),
    }
}

/// Removes a directory that a session wrote, with all that is in it; a link or file in its place only
/// itself. A confined child does it: how deep, how many and with what rights is the session's choice.
/// `mirror` is one of ours, beside which the child's profile lies meanwhile.
///
/// # Errors
/// When something in it cannot be removed, or it takes too long: the next try goes on. Nothing there
/// is no error.
pub async fn remove_tree(
    inspector: &Inspector,
    mirror: &Path,
    path: &Path,
) -> Result<(), GitError> {
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    let nothing = async { Ok::<_, Infallible>(()) };
    let done = remove_tree_after(nothing, inspector, mirror, path).await;
    done.unwrap_or_else(|never| match never {}).1
}

/// The same once `first` went well, which always comes to its end; meanwhile the child gets ready, whose time
/// begins now. What `first` says, and whether the directory is gone.
///
/// # Errors
/// That of `first`: then nothing is removed.
pub async fn remove_tree_after<T, E>(
    first: impl Future<Output = Result<T, E>>,
    inspector: &Inspector,
    mirror: &Path,
    path: &Path,
) -> Result<(T, Result<(), GitError>), E> {
    let is_gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| io(path, source)),
    };
    let found = path.symlink_metadata();
    if !found.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
        let went = first.await?;
        return Ok((went, is_gone(found.and_then(|_| fs::remove_file(path)))));
    }
    let dirs = [path.to_owned()];
    let (went, gone) = emptied(first, inspector, mirror, &dirs).await?;
    let gone = gone.and_then(|gone| gone.into_iter().collect());
    Ok((went, gone.and_then(|()| is_gone(fs::remove_dir(path)))))
}

/// Removes several such directories by one child: nothing in any of them is needed any more, so it is no matter that
/// what lies in one could have the others removed. What became of each; where the child fails, each is tried alone.
pub async fn remove_trees(
    inspector: &Inspector,
    mirror: &Path,
    paths: &[PathBuf],
) -> Vec<Result<(), GitError>> {
    let are_dirs = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    if paths.len() > 1 && paths.iter().all(are_dirs) {
        let nothing = async { Ok::<_, Infallible>(()) };
        if let Ok(((), Ok(gone))) = emptied(nothing, inspector, mirror, paths).await {
            let removed = gone.into_iter().zip(paths).map(|(gone, path)| {
                gone.and_then(|()| fs::remove_dir(path).map_err(|source| io(path, source)))
            });
            return removed.collect();
        }
    }
    let mut removed = Vec::new();
    for path in paths {
        removed.push(remove_tree(inspector, mirror, path).await);
    }
    removed
}

/// Empties directories once `first` went well; meanwhile the child gets ready. What became of each.
async fn emptied<T, E>(
    first: impl Future<Output = Result<T, E>>,
    inspector: &Inspector,
    mirror: &Path,
    dirs: &[PathBuf],
) -> Result<(T, Result<Vec<Result<(), GitError>>, GitError>), E> {
    let unseen = |path: &Path, source| GitError::Unseen {
        path: path.to_owned(),
        source,
    };
    scratch::sweep(mirror);
    // What is removed may be what has filled the disk.
    let near = ScratchDir::new(mirror, "remove").and_then(ScratchDir::with_room);
    let dir = match near.or_else(|why| ScratchDir::elsewhere("remove").map_err(|_| why)) {
        Ok(dir) => dir,
        Err(why) => return Ok((first.await?, Err(why))),
    };
    let question = Remove {
        dirs: dirs.to_vec(),
    };
    let desk = Desk {
        own: dir.path().to_owned(),
        write: dirs.to_vec(),
        ..Desk::default()
    };
    let bounds = bounds();
    let asked = inspector.ask_after(first, &question, &desk, &bounds);
    let (went, answer) = asked.await?;
    let first = dirs.first().map_or(mirror, PathBuf::as_path);
    let each = answer.map_err(|source| unseen(first, source));
    let each = each.and_then(|answer| {
        if answer.len() != dirs.len() {
            let said = "it does not say of each what became of it";
            return Err(unseen(first, InspectError::Garbled(said.to_owned())));
        }
        let each = dirs.iter().zip(answer).map(|(path, why)| match why {
            None => Ok(()),
            Some(why) => Err(unseen(path, InspectError::Refused(why))),
        });
        Ok(each.collect())
    });
    Ok((went, each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_removed_before_what_comes_first_went_well() {
        let dir = tempfile::tempdir().unwrap();
        let (mirror, bench) = (dir.path().join("widget.git"), dir.path().join("bench"));
        fs::create_dir_all(bench.join("tree")).unwrap();
        let inspector = Inspector::here();
        let fails = async { Err::<(), _>("not kept") };
        let error = remove_tree_after(fails, &inspector, &mirror, &bench).await;
        assert_eq!(error.unwrap_err(), "not kept");
        assert!(bench.join("tree").is_dir());

        // What one that was killed had for itself goes with the next one; no process has so high a number.
        let left = dir.path().join("widget.scratch/2147483647-0-remove");
        fs::create_dir_all(left.join("own")).unwrap();
        let inside = bench.join("tree");
        let moves = async { out_of_sight(&inside) };
        let ((), removed) = remove_tree_after(moves, &inspector, &mirror, &bench)
            .await
            .unwrap();
        removed.unwrap();
        assert!(!bench.exists() && !left.exists());
        // What comes first is done where nothing is to be removed, too.
        let first = async { Ok::<_, GitError>("done") };
        let (went, nothing) = remove_tree_after(first, &inspector, &mirror, &bench)
            .await
            .unwrap();
        nothing.unwrap();
        assert_eq!(went, "done");
    }
}
