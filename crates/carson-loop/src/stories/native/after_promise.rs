//! What a promise changed where its executor may not: it may run what the executor wrote.

use super::areas::{Kind, Seen, Stays};
use super::did::Did;
use super::error::StoriesError;
use super::judge::Allowed;
use super::others::Others;
use super::repo::is_of_commits;
use super::runner::Runner;
use super::told::Told;
use crate::tree::Missed;

impl Runner<'_> {
    /// Undoes it.
    ///
    /// # Errors
    /// When something of it cannot be put back: then the attempt is still open, and the next run undoes all of it.
    pub async fn undo_promise(
        &mut self,
        (story, attempt): (&str, u32),
        did: &Did,
        allowed: &Allowed,
    ) -> Result<(), StoriesError> {
        self.place.clear()?;
        if let (Some(repo), Some(was)) = (&self.repo, &did.refs) {
            repo.put_back(&was.dot_git)?;
        }
        let now = self.refs().await.ok().flatten();
        let others = did
            .refs
            .as_ref()
            .map(|was| Others::between(was, now.as_ref()));
        let others = others.unwrap_or_default();
        let mut stays = Stays {
            ours: &[],
            others: &others,
            refs_are_set: false,
        };
        let (undone, mut missed) = self.undo_out_of_scope(&did.after, allowed, &stays)?;
        let repo = self.repo.clone();
        if let (Some(repo), Some(was)) = (&repo, &did.refs)
            && repo.put_refs_back(was, &others).await?
        {
            // Git writes logs, of which one is a person's: the stash.
            stays.refs_are_set = true;
            (_, missed) = self.undo_out_of_scope(&did.after, allowed, &stays)?;
            repo.put_stashes_back(was).await?;
        }
        self.journal.reopen()?;
        self.journal.restore()?;
        if let Some(first) = undone.first() {
            let what = match undone.len() {
                1 => format!("1 file out of scope, which was put back: {first}"),
                count => {
                    format!("{count} files out of scope, which were put back: {first}, …")
                }
            };
            (self.told)(Told::Note(format!("the promise changed {what}")));
        }
        match missed.is_empty() {
            true => Ok(()),
            false => Err(StoriesError::not_undone(story, attempt, &missed)),
        }
    }

    /// What was undone, and what cannot be.
    fn undo_out_of_scope(
        &mut self,
        after: &Seen,
        allowed: &Allowed,
        stays: &Stays<'_>,
    ) -> Result<(Vec<String>, Vec<Missed>), StoriesError> {
        let now = self
            .areas
            .look(Some(after), &mut self.contents, &[], None)?;
        let (mut undone, mut missed) = (Vec::new(), Vec::new());
        for area in self.areas.changes(after, &now) {
            let outside = match area.kind {
                Kind::Tree => {
                    area.only(|change| !allowed.violations(std::slice::from_ref(change)).is_empty())
                }
                Kind::Git | Kind::Own => area.without(stays),
            };
            let told = outside
                .changes
                .iter()
                .filter(|change| !change.is_of_dirs())
                .filter(|change| area.kind == Kind::Tree || !is_of_commits(change));
            undone.extend(told.map(|change| change.path.to_string()));
            missed.extend(outside.undo(&self.contents)?);
        }
        Ok((undone, missed))
    }
}
