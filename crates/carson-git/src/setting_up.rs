//! A setup runs in a worktree that is a copy, before any session.
//!
//! Two notes beside the worktree, where neither the setup nor a session writes, tell what it left from work: one
//! stands while it runs, and for good where it did not end well, and a look takes nothing then; the other names what lay
//! there when it had ended well.

use std::path::Path;

use crate::durable;
use crate::error::{GitError, io};
use crate::inspect::look::Depth;
use crate::inspect::note_residue::NoteResidue;
use crate::inspect::residue::{RESIDUE, commits_beside};
use crate::kept;
use crate::private::BEGAN;
use crate::scratch::ScratchDir;
use crate::seen::bounds;
use crate::worktree::Worktree;

/// The note of a worktree in which a setup runs, among those of how it began.
const SETTING_UP: &str = "setting-up";

/// Whether a setup runs in the copy of the bench at this place, or ended there in another way than well.
#[must_use]
pub fn setup_runs_in(bench: &Path) -> bool {
    bench.join(BEGAN).join(SETTING_UP).exists()
}

impl Worktree {
    /// Notes that a setup runs in it, before any session: until [`end_setup`](Self::end_setup), nothing in it is work.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn begin_setup(&self) -> Result<(), GitError> {
        let note = self.began().dir.join(SETTING_UP);
        std::fs::write(&note, "").map_err(|source| io(&note, source))
    }

    /// Notes that the setup has ended well: what is done in it from here on is work, after a power cut, too.
    ///
    /// # Errors
    /// When the note stays: no session may begin.
    pub fn end_setup(&self) -> Result<(), GitError> {
        let note = self.began().dir.join(SETTING_UP);
        std::fs::remove_file(&note).map_err(|source| io(&note, source))?;
        durable::name(&note, &self.began().dir)
    }

    /// Whether one runs in it, or has ended in another way than well.
    pub(crate) fn is_setting_up(&self) -> bool {
        self.path.parent().is_some_and(setup_runs_in)
    }

    /// Notes what a setup left in a copy, so that no look takes it for a session's work. To be called before any
    /// session; how many files and directories nobody may read.
    ///
    /// # Errors
    /// When the inspector has no answer, or the note cannot be written: then all of it counts as work.
    pub async fn note_residue(&self) -> Result<u32, GitError> {
        let bench = self.path.parent().unwrap_or(&self.path);
        let dir = ScratchDir::new(self.mirror.path(), "residue")?;
        let (question, desk) = self.question(bench, &dir, false, Depth::Files)?;
        let (from, to) = (question.out.join(RESIDUE), question.residue.clone());
        let question = NoteResidue(question);
        let (inspector, bounds) = (&self.mirror.inspector, bounds());
        let noted = inspector.ask(&question, &desk, &bounds).await;
        let noted = noted.map_err(|error| self.unseen(error))?;
        let [commits, to_commits] = [&from, &to].map(|note| commits_beside(note));
        for (from, to) in [(commits, to_commits), (from, to)] {
            kept::take(&from, &to).map_err(|source| io(&to, source))?;
        }
        Ok(noted.unreadable)
    }
}
