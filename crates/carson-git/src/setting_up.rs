//! What is done in a worktree before any session: a setup runs in one that is a copy, and earlier work is joined with the base.
//!
//! Notes beside the worktree, where neither the setup nor a session writes, tell what these left from work: one
//! stands while it goes on, and for good where it did not end well, and a look takes nothing then; of a setup, another names
//! what lay there when it had ended well.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::durable;
use crate::error::{GitError, io};
use crate::inspect::look::Depth;
use crate::inspect::note_residue::NoteResidue;
use crate::inspect::residue::{RESIDUE, commits_beside, given_beside};
use crate::kept;
use crate::private::BEGAN;
use crate::scratch::ScratchDir;
use crate::seen::bounds;
use crate::worktree::Worktree;

/// The note of a worktree in which a setup runs, among those of how it began.
const SETTING_UP: &str = "setting-up";
/// The note of a worktree into which earlier work is brought, in the same place.
const JOINING: &str = "joining";

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
        self.begin(SETTING_UP)
    }

    /// Notes that the setup has ended well: what is done in it from here on is work, after a power cut, too.
    ///
    /// # Errors
    /// When the note stays: no session may begin.
    pub fn end_setup(&self) -> Result<(), GitError> {
        self.end(SETTING_UP)
    }

    /// Notes that earlier work is brought into it, before any session: until [`end_joining`](Self::end_joining) it is where it
    /// was, and nothing here is work.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn begin_joining(&self) -> Result<(), GitError> {
        self.begin(JOINING)
    }

    /// Notes that all who ask later know where its sessions begin: what is done in it from here on is work.
    ///
    /// # Errors
    /// When the note stays: no session may begin.
    pub fn end_joining(&self) -> Result<(), GitError> {
        self.end(JOINING)
    }

    /// Notes where files of the operator's lie in it: what is at these paths is no work, whatever a session or a test writes
    /// there, unless it is tracked.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn note_given<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> Result<(), GitError> {
        let lines = paths.flat_map(|path| [path.as_os_str().as_bytes(), &[0]]);
        let lines = lines.collect::<Vec<_>>().concat();
        if lines.is_empty() {
            return Ok(());
        }
        let note = given_beside(&self.began().residue);
        std::fs::write(&note, lines).map_err(|source| io(&note, source))?;
        durable::name(&note, &self.began().dir)
    }

    fn begin(&self, note: &str) -> Result<(), GitError> {
        let note = self.began().dir.join(note);
        std::fs::write(&note, "").map_err(|source| io(&note, source))
    }

    fn end(&self, note: &str) -> Result<(), GitError> {
        let note = self.began().dir.join(note);
        std::fs::remove_file(&note).map_err(|source| io(&note, source))?;
        durable::name(&note, &self.began().dir)
    }

    /// Whether one of these goes on in it, or has ended in another way than well: no session has been there.
    pub(crate) fn is_unready(&self) -> bool {
        let dir = self.began().dir;
        [SETTING_UP, JOINING]
            .iter()
            .any(|note| dir.join(note).exists())
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
