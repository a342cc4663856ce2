//! How far a firing has come: what its end has to clean up.

use std::sync::Arc;

use carson_config::Repo;
use carson_core::coverage::{Covered, Measured};
use carson_core::{Effect, Work};
use carson_forge::Forge;
use carson_git::{GitError, Mirror, Oid, Seen, Worktree};

use crate::plan_at::StoryWork;
use crate::saved::Saved;
use crate::searched_ahead::Ahead;
use carson_bench::bench::Bench;

/// How far a firing has come. Whoever runs its stages owns this, so that it outlives a stage that is
/// dropped; recovery finds it again from the row. Where the forge of a dead firing cannot be opened
/// there is a place without its work.
#[derive(Default)]
pub(crate) struct Reached<'h> {
    pub taken: Option<Taken<'h>>,
    pub place: Option<Place>,
    /// What was saved before its host was gone, where the place is on that one.
    pub far: Option<Saved>,
}

/// The work of a firing, which it holds.
pub(crate) struct Taken<'h> {
    pub repo: &'h Repo,
    pub forge: Forge,
    pub work: Work,
    /// The commit that its sessions look at; the newest of the base without it.
    pub at: Option<Oid>,
    /// What that changes, for sessions that judge it.
    pub diff: Option<String>,
    /// What is wrong with a pull request that is to be mended.
    pub mends: Option<Mends>,
    /// What is to be done on the forge, where that needs no session.
    pub decided: Option<Vec<Effect>>,
    /// The story of a plan that it is.
    pub story: Option<Box<StoryWork>>,
    /// The draft beside which it is done once more.
    pub first: Option<FirstTry>,
}

/// The draft beside which a firing tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstTry {
    /// Its pull request.
    pub pull: u64,
    /// Firings that failed at the same work, as far as that matters.
    pub failed: u32,
}

/// What is wrong with a pull request of the fleet's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mends {
    /// Its branch, which gets the commits once they are finished.
    pub branch: String,
    /// What is wrong, for sessions. Others wrote it.
    pub findings: String,
    /// Threads that are answered.
    pub threads: Vec<String>,
}

impl<'h> Taken<'h> {
    /// Work on the newest commit of the base.
    pub(crate) fn new(repo: &'h Repo, forge: Forge, work: Work) -> Self {
        Self {
            repo,
            forge,
            work,
            at: None,
            diff: None,
            mends: None,
            decided: None,
            story: None,
            first: None,
        }
    }
}

/// Where a firing works.
pub(crate) struct Place {
    pub mirror: Mirror,
    pub worktree: Worktree,
    pub bench: Bench,
    /// The earlier work that it goes on with.
    pub goes_on: Option<GoesOn>,
    /// The file that its sessions write tests for.
    pub aim: Option<Aim>,
    /// The search for secrets in what was seen, where it has begun.
    pub ahead: Option<Ahead>,
    /// A room with this commit that was made while a check ran, for whoever judges next.
    pub room_ahead: Option<(Oid, Bench)>,
    /// The branch for work that another host took over: nobody else has it.
    pub aside: Option<String>,
    known: Known,
}

/// Earlier work that a firing goes on with.
pub(crate) struct GoesOn {
    /// Its branch on the remote, whose pull request people know.
    pub branch: String,
    /// The commit at which the sessions began; `None` when the firing died before it was noted.
    pub at: Option<Oid>,
}

/// A file that its tests run too little of.
pub(crate) struct Aim {
    /// Its path.
    pub file: String,
    /// How much they ran before any work.
    pub before: Covered,
    /// What sessions are told of it.
    pub told: String,
    /// The newest commit of the work that was measured, and what that said.
    pub after: Option<(Oid, Measured)>,
}

/// What is known of a worktree since somebody could write there.
enum Known {
    Nothing,
    Seen(Arc<Seen>),
    /// Nobody could look, and why: looking once more would take as long again.
    Unseen(String),
}

impl Place {
    pub(crate) fn new(mirror: Mirror, worktree: Worktree, bench: Bench) -> Self {
        Self {
            mirror,
            worktree,
            bench,
            goes_on: None,
            aim: None,
            ahead: None,
            room_ahead: None,
            aside: None,
            known: Known::Nothing,
        }
    }

    /// Looks, or gives what was seen since somebody could write there.
    pub(crate) async fn inspect(&mut self) -> Result<Arc<Seen>, GitError> {
        match &self.known {
            Known::Nothing => {}
            Known::Seen(seen) => return Ok(Arc::clone(seen)),
            Known::Unseen(why) => {
                return Err(GitError::Failed {
                    verb: "look".into(),
                    detail: why.clone(),
                });
            }
        }
        match self.worktree.inspect(true).await {
            Ok(seen) => {
                let seen = Arc::new(seen);
                self.known = Known::Seen(Arc::clone(&seen));
                Ok(seen)
            }
            Err(error) => {
                self.known = Known::Unseen(error.to_string());
                Err(error)
            }
        }
    }

    /// Somebody could write there.
    pub(crate) fn forget(&mut self) {
        self.ahead = None;
        self.room_ahead = None;
        self.known = Known::Nothing;
    }

    /// The room with this commit that nobody was in yet, if there is one.
    pub(crate) fn room_of(&mut self, commit: &Oid) -> Option<Bench> {
        let (made_of, room) = self.room_ahead.take()?;
        (made_of == *commit && room.tree().is_dir()).then_some(room)
    }

    /// Whether nobody could look, or not at everything.
    pub(crate) fn is_unseen(&self) -> bool {
        match &self.known {
            Known::Nothing => false,
            Known::Seen(seen) => !seen.facts().trouble.is_empty(),
            Known::Unseen(_) => true,
        }
    }

    /// The branch of the remote that its work goes to.
    pub(crate) fn pushed_as(&self) -> &str {
        if let Some(branch) = &self.aside {
            return branch;
        }
        let goes_on = self.goes_on.as_ref();
        goes_on.map_or(&self.worktree.branch, |earlier| &earlier.branch)
    }

    /// Whether this commit is where its sessions began: of their own there is nothing in it.
    pub(crate) fn is_begin(&self, tip: &Oid) -> bool {
        let begun = self
            .goes_on
            .as_ref()
            .and_then(|earlier| earlier.at.as_ref());
        *tip == self.worktree.base || begun == Some(tip)
    }

    /// Commits of its sessions; those of earlier work that it goes on with are none of theirs.
    pub(crate) async fn own_commits(&mut self) -> Result<u32, GitError> {
        let seen = self.inspect().await?;
        let earlier = self.goes_on.as_ref();
        let begun = earlier.and_then(|earlier| earlier.at.as_ref());
        seen.commits_since(begun.unwrap_or(&self.worktree.base))
            .await
    }

    /// Whether no work exists: no commit, and nothing uncommitted.
    pub(crate) async fn is_untouched(&mut self) -> bool {
        let seen = self.inspect().await;
        seen.is_ok_and(|seen| {
            let facts = seen.facts();
            let committed = facts.commits > 0 && !self.is_begin(seen.tip());
            let committed = committed || !facts.beside.is_empty();
            facts.exists && !committed && !facts.dirty && !facts.head_strayed
        })
    }
}
