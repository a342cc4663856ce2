//! What passes while a firing runs: word to whoever watches. Its log has a line of each.

use std::path::PathBuf;

use carson_core::{RepoName, Stage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One thing that passed.
#[derive(Clone, Debug)]
pub enum Step {
    /// A stage begins.
    Stage(Stage),
    /// The work was taken.
    Took {
        /// Where.
        repo: RepoName,
        /// The issue; `None` for a role's own task.
        issue: Option<u64>,
        /// Its title, as one line.
        title: String,
    },
    /// The setup of a repository runs.
    Setup {
        /// Which.
        repo: RepoName,
        /// Where what it prints is written while it runs; nowhere for a clean room's.
        log: Option<PathBuf>,
    },
    /// Another firing runs the setup of a repository, and this one waits for what that leaves.
    WaitsForSetup(RepoName),
    /// The check of the role runs: the repository's tests, say.
    Check(String),
    /// Something that somebody should know.
    Warned(String),
    /// A session calls a tool.
    Call {
        /// Which.
        tool: String,
        /// The call in short.
        call: String,
    },
    /// What the sessions so far add up to.
    Used {
        /// Turns.
        turns: u32,
        /// Money, where it is known.
        cost_usd: Option<f64>,
        /// Whether part of it was priced from tokens.
        estimated: bool,
    },
}

/// Where steps go: to whoever watches, or to nobody.
#[derive(Clone, Debug, Default)]
pub struct Steps(Option<UnboundedSender<Step>>);

impl Steps {
    /// For somebody who watches. They are told no more once the firing has ended.
    #[must_use]
    pub fn watched() -> (Self, UnboundedReceiver<Step>) {
        let (steps, watcher) = unbounded_channel();
        (Self(Some(steps)), watcher)
    }

    pub(crate) fn tell(&self, step: Step) {
        // One who went away misses nothing that is not in the log.
        let _ = self.0.as_ref().map(|watcher| watcher.send(step));
    }
}
