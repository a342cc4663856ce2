//! What passes while a loop runs, for whoever watches.

use crate::lock::Owner;
use crate::meta::{Checked, Meta};
use crate::progress::Stagnation;

/// What passes.
#[derive(Clone, Copy, Debug)]
pub enum Step<'s> {
    /// An owner that died was taken over.
    TookOver(&'s Owner),
    /// So many processes that it left behind were ended.
    EndedOrphans(u32),
    /// The attempts so far were put away there.
    PutAway(&'s str),
    /// An attempt was interrupted when the loop died.
    Interrupted(&'s Meta),
    /// The promise is asked: after this attempt, or before the first one (0).
    Checking(u32),
    /// It was asked, and this is the last line that it printed.
    Checked(&'s Checked, &'s str),
    /// An attempt begins: its number, how many count with it, and how many may.
    Attempt(u32, u32, u32),
    /// A line that the task prints, secrets and all.
    Line(&'s str),
    /// The task ended.
    Ran(&'s Meta),
    /// It printed what these attempts had printed.
    Matches(&'s [u32]),
    /// It may be getting nowhere.
    Doubted(&'s Stagnation),
    /// Somebody changed these keys of the configuration.
    ConfigChanged(&'s [String]),
    /// Somebody changed the state by hand.
    StateEdited,
    /// So many paths cannot be kept, of which this is one, and why.
    NotKept(u64, &'s str),
    /// The repository at this place is gone: of its own files only the index of the top one is kept.
    RepositoryGone(&'s str),
}

/// Hears what passes.
pub type Watch<'w> = &'w mut (dyn FnMut(Step<'_>) + Send);
