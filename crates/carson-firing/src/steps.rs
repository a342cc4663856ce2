//! What passes while a firing runs: a line of its log each, and word to whoever watches.

use carson_core::{RepoName, Stage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing::info;

use crate::ctx::Ctx;
use crate::record::Tally;

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
    Setup(RepoName),
    /// The check of the role runs: the repository's tests, say.
    Check(String),
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

    fn tell(&self, step: Step) {
        // One who went away misses nothing that is not in the log.
        let _ = self.0.as_ref().map(|watcher| watcher.send(step));
    }
}

impl Ctx<'_> {
    pub(crate) fn begins(&self, stage: Stage) {
        info!(firing.id = %self.id, firing.stage = %stage, "stage");
        self.steps.tell(Step::Stage(stage));
    }

    pub(crate) fn took(&self, repo: &RepoName, issue: Option<u64>, title: &str) {
        info!(firing.id = %self.id, %repo, work.issue = issue, work.title = title, "work taken");
        self.steps.tell(Step::Took {
            repo: repo.clone(),
            issue,
            title: title.to_owned(),
        });
    }

    pub(crate) fn runs_setup(&self, repo: &RepoName) {
        info!(firing.id = %self.id, %repo, "the setup runs");
        self.steps.tell(Step::Setup(repo.clone()));
    }

    pub(crate) fn runs_check(&self, command: &str) {
        info!(firing.id = %self.id, command, "the check runs");
        self.steps.tell(Step::Check(command.to_owned()));
    }

    pub(crate) fn calls(&self, tool: &str, call: &str) {
        info!(firing.id = %self.id, tool, call, "tool call");
        self.steps.tell(Step::Call {
            tool: tool.to_owned(),
            call: call.to_owned(),
        });
    }

    pub(crate) fn used(&self, tally: &Tally) {
        self.steps.tell(Step::Used {
            turns: tally.turns,
            cost_usd: tally.cost_usd,
            estimated: tally.cost_estimated,
        });
    }
}
