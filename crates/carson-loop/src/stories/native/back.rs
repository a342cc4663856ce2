//! The way back of a repository: its files byte by byte, and by git what other work trees share with this one.
//!
//! A file that has many refs (`packed-refs`, those of a reftable) is not put back as a whole, because those of others stand
//! in it, too: git sets the others one by one.

use std::fmt::Write as _;

use super::areas::{Seen, Stays};
use super::before::Before;
use super::error::StoriesError;
use super::others::Others;
use super::repo::{Refs, Repo, STASH, SYMBOLIC};
use super::runner::Runner;
use crate::tree::Missed;

impl Runner<'_> {
    /// Makes everything again what it was; what cannot be put back, and how all is then.
    pub(super) async fn all_back(
        &mut self,
        before: &Before,
        stays: &Stays<'_>,
    ) -> Result<(Vec<Missed>, Seen), StoriesError> {
        let back = self.areas.undo(&before.seen, &mut self.contents, stays)?;
        let (Some(repo), Some(was)) = (&self.repo, &before.refs) else {
            return Ok(back);
        };
        // What git does not do is told once all is looked at.
        if repo.put_refs_back(was, stays.others).await.unwrap_or(true) {
            // Git writes logs, of which one is a person's: the stash.
            let stays = Stays {
                refs_are_set: true,
                ..*stays
            };
            let back = self.areas.undo(&before.seen, &mut self.contents, &stays)?;
            let _ = repo.put_stashes_back(was).await;
            return Ok(back);
        }
        Ok(back)
    }
}

impl Repo {
    /// Sets each ref that is ours, and is not what it was; whether there was one, or something else of the repository is
    /// not what it was.
    ///
    /// # Errors
    /// When git fails.
    pub async fn put_refs_back(&self, was: &Refs, others: &Others) -> Result<bool, StoriesError> {
        let now = self.refs().await?;
        if others.same(was, &now) {
            return Ok(false);
        }
        let (mut gone, mut set, mut symbolic) = (String::new(), String::new(), Vec::new());
        for (name, _) in others.own(&now.all) {
            if !was.all.contains_key(name) {
                let _ = writeln!(gone, "delete {name}");
            }
        }
        for (name, object) in others.own(&was.all) {
            if now.all.get(name) == Some(object) {
                continue;
            }
            match object.strip_prefix(SYMBOLIC) {
                Some(to) => symbolic.push((name.as_str(), to)),
                None => {
                    let _ = writeln!(set, "update {name} {object}");
                }
            }
        }
        // What is in the way goes first.
        for batch in [gone, set].iter().filter(|batch| !batch.is_empty()) {
            let words = ["--no-deref", "--stdin"];
            self.ask("update-ref", &words, batch.as_bytes()).await?;
        }
        if now.head != was.head {
            match (was.branch(), &was.commit) {
                (Some(branch), _) => symbolic.push(("HEAD", branch)),
                (None, Some(commit)) => {
                    let words = ["--no-deref", "HEAD", commit];
                    self.ask("update-ref", &words, b"").await?;
                }
                (None, None) => {}
            }
        }
        for (name, to) in symbolic {
            self.ask("symbolic-ref", &[name, to], b"").await?;
        }
        Ok(true)
    }

    /// Makes the stash anew, entry by entry, where its log is no file that was put back.
    pub async fn put_stashes_back(&self, was: &Refs) -> Result<(), StoriesError> {
        if self.refs().await?.stashes == was.stashes {
            return Ok(());
        }
        let _ = self.ask("update-ref", &["-d", STASH], b"").await;
        for (object, said) in was.stashes.iter().rev() {
            let words = ["store", "-q", "-m", said, object];
            self.ask("stash", &words, b"").await?;
        }
        Ok(())
    }
}
