//! Whether a worktree changes while a session works in it: the one question that is asked then.

use std::time::Duration;

use carson_proc::inspector::{Bounds, Desk};

use crate::error::GitError;
use crate::inspect::touched::{LastTouched, Touched};
use crate::scratch::ScratchDir;
use crate::worktree::Worktree;

/// It reads no files, so this is enough for a great many.
const BOUNDS: Bounds = Bounds {
    wall_clock: Duration::from_secs(30),
    memory_mb: 512,
    file_size_mb: 1,
    answer: 1024,
};

impl Worktree {
    /// When anything in it was last changed, by the file system's notes.
    ///
    /// # Errors
    /// When the inspector has no answer: then nothing is known.
    pub async fn last_touched(&self) -> Result<Touched, GitError> {
        let dir = ScratchDir::new(self.mirror.path(), "touched")?;
        let desk = Desk {
            own: dir.path().to_owned(),
            // Of layers, what the session changed lies here.
            read: vec![self.path.clone()],
            ..Desk::default()
        };
        let question = LastTouched {
            tree: self.path.clone(),
        };
        let asked = self.mirror.inspector.ask(&question, &desk, &BOUNDS).await;
        asked.map_err(|source| GitError::Unseen {
            path: self.path.clone(),
            source,
        })
    }
}
