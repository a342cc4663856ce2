//! A firing's branch in the store follows the session's.

use tokio::task::spawn_blocking;

use crate::durable;
use crate::error::GitError;
use crate::inspect::look::Found;
use crate::oid::Oid;
use crate::ref_change::RefChange;
use crate::worktree::Worktree;

/// How the firing's branch in the store is moved.
pub(crate) struct Following {
    /// Where it ends then.
    pub to: Oid,
    /// With what else changes then.
    changes: Vec<RefChange>,
}

impl Worktree {
    /// Where the firing's branch in the store is to move: to where the session left its work. A ref
    /// remembers what was seen there: Carson's own snapshots on top of it are not taken back.
    pub(crate) async fn following(&self, found: &Found) -> Result<Option<Following>, GitError> {
        let (Some(wanted), held) = (&found.branch, self.branch_tip().await?) else {
            return Ok(None);
        };
        let seen_name = self.seen_ref();
        let seen = self.kept.bare.ref_target(&seen_name).await?;
        // The first look finds it where the firing began.
        let seen = seen.unwrap_or_else(|| self.base.clone());
        if seen == *wanted || held.as_ref() == Some(wanted) {
            return Ok(None);
        }
        // The newest commit that the branch was at and that is whole.
        let Some(to) = &found.newest else {
            return Ok(None);
        };
        let mut changes = Vec::new();
        if to == wanted {
            changes.push(RefChange::to(seen_name, wanted));
        } else if let Some(held) = &held
            && self.kept.bare.descends(held, to).await?
        {
            return Ok(None);
        }
        changes.push(RefChange::moved(self.branch_ref(), to, held.as_ref()));
        // What Carson put on top of the branch is not on it any more.
        if let Some(held) = held.filter(|held| *held != seen)
            && !self.kept.bare.descends(to, &held).await?
        {
            let kept = format!("refs/carson/abandoned/{}/{held}", self.name());
            changes.push(RefChange::to(kept, &held));
        }
        let to = to.clone();
        Ok(Some(Following { to, changes }))
    }

    /// Moves it there.
    pub(crate) async fn follow(&self, following: &Following) -> Result<(), GitError> {
        let changes = following.changes.clone();
        self.kept.bare.change_refs(changes).await?;
        // The outcome that is written next rests on it, and the bench may not survive a power cut.
        let kept = self.kept.path().to_owned();
        let branch = kept.join(self.branch_ref());
        let synced = spawn_blocking(move || durable::name(&branch, &kept)).await;
        synced.unwrap_or_else(|panic| {
            Err(GitError::Failed {
                verb: "sync".into(),
                detail: panic.to_string(),
            })
        })
    }
}
