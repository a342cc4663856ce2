//! What every stage of a firing is handed, and none of them changes.

use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use carson_config::Role;
use carson_core::story::StoryId;
use carson_core::work::WorkKey;
use carson_core::{Event, FiringId, RepoName, Stage};
use carson_proc::Cancel;
use carson_store::{AsFiring, Epoch, Firing as Row, Stopped, Store};
use chrono::{DateTime, Utc};
use tracing::{info, warn};

use crate::steps::{Step, Steps};
use carson_home::{FiringRef, Home};

/// A firing while it runs, or while a dead one is concluded: who fires, for whom, and until when. What
/// it has come to is in [`Reached`](crate::reached::Reached), what it adds up to in
/// [`Record`](crate::record::Record).
pub(crate) struct Ctx<'h> {
    pub home: &'h Home,
    pub id: FiringId,
    /// That of its row: another host that takes it over raises it.
    pub epoch: Epoch,
    pub claimed_at: DateTime<Utc>,
    pub role: &'h Role,
    pub cancel: Cancel,
    pub deadline: Instant,
    pub wanted: Wanted,
    /// Whether somebody asked for it, and no slot.
    pub by_hand: bool,
    /// Whether it is only asked what a firing would meet: there is no row, and nothing is told to anybody.
    pub is_only_asked: bool,
    /// Who watches.
    pub steps: Steps,
}

/// What an operator asked for with `--repo`, `--work` and `--story`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub repo: Option<RepoName>,
    pub work: Option<u64>,
    pub story: Option<StoryId>,
}

impl<'h> Ctx<'h> {
    /// For whoever only asks what a firing would meet.
    pub(crate) fn asking(home: &'h Home, role: &'h Role, (cancel, steps): (Cancel, Steps)) -> Self {
        Self {
            home,
            id: FiringId::new(),
            epoch: Epoch::FIRST,
            claimed_at: home.clock.now(),
            role,
            cancel,
            deadline: Instant::now() + role.limits.wall_clock,
            wanted: Wanted::default(),
            by_hand: true,
            is_only_asked: true,
            steps,
        }
    }

    /// A firing as its row tells it.
    pub(crate) fn of_row(home: &'h Home, row: &Row, role: &'h Role, cancel: Cancel) -> Self {
        Self {
            home,
            id: row.id,
            epoch: row.epoch,
            claimed_at: row.claimed_at,
            role,
            cancel,
            deadline: Instant::now() + role.limits.wall_clock,
            by_hand: row.slot.is_none(),
            is_only_asked: false,
            steps: Steps::default(),
            wanted: Wanted {
                repo: row.repo.clone(),
                work: row.work.and_then(WorkKey::number),
                story: row.work.and_then(WorkKey::story),
            },
        }
    }

    /// As everything below its stages knows it.
    pub(crate) fn firing(&self) -> FiringRef<'h> {
        FiringRef {
            home: self.home,
            role: self.role,
            id: self.id,
            epoch: self.epoch,
        }
    }

    /// The firing as who writes its row.
    pub(crate) fn as_firing(&self) -> AsFiring<'h> {
        self.home.store.as_firing(self.id, self.epoch)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.home.store
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.home.clock.now()
    }

    /// What is left of the wall clock.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn has_stage(&self, stage: Stage) -> bool {
        self.role.stages.contains(&stage)
    }

    /// The text without secrets.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.home.redactor.redact(text).into_owned()
    }

    /// [`FiringRef::best_effort`].
    pub(crate) async fn best_effort<E: Display>(
        &self,
        what: &str,
        written: impl Future<Output = Result<(), E>>,
    ) {
        self.firing().best_effort(what, written).await;
    }

    /// Notes the stage in the row.
    pub(crate) fn enter(&self, stage: Stage) -> impl Future<Output = ()> {
        let entered = (!self.is_only_asked).then(|| {
            self.begins(stage);
            self.as_firing().set_stage(stage, self.now())
        });
        async move {
            if let Some(entered) = entered {
                self.best_effort("the stage", entered).await;
            }
        }
    }

    /// [`FiringRef::event`].
    pub(crate) async fn event(&self, event: &Event) {
        if self.is_only_asked {
            return;
        }
        self.firing().event(event).await;
    }

    /// Notes tool calls that were stopped, as many as anybody reads.
    pub(crate) async fn note_stopped(&self, stopped: Vec<Stopped>) {
        let now = self.now();
        let added = self.as_firing().add_blocked_calls(&stopped, now);
        self.best_effort("blocked calls", added).await;
    }
}

/// What passes: a line of the log each, and word to whoever watches.
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

    pub(crate) fn runs_setup(&self, repo: &RepoName, log: Option<&Path>) {
        let shown = log.map(|log| log.display().to_string());
        info!(firing.id = %self.id, %repo, log = shown, "the setup runs");
        self.steps.tell(Step::Setup {
            repo: repo.clone(),
            log: log.map(Path::to_owned),
        });
    }

    pub(crate) fn waits_for_setup(&self, repo: &RepoName) {
        info!(firing.id = %self.id, %repo, "another firing runs the setup: waiting for it");
        self.steps.tell(Step::WaitsForSetup(repo.clone()));
    }

    pub(crate) fn runs_check(&self, command: &str) {
        info!(firing.id = %self.id, command, "the check runs");
        self.steps.tell(Step::Check(command.to_owned()));
    }

    pub(crate) fn warns(&self, text: &str) {
        warn!(firing.id = %self.id, "{text}");
        self.steps.tell(Step::Warned(text.to_owned()));
    }

    pub(crate) fn calls(&self, tool: &str, call: &str) {
        info!(firing.id = %self.id, tool, call, "tool call");
        self.steps.tell(Step::Call {
            tool: tool.to_owned(),
            call: call.to_owned(),
        });
    }

    pub(crate) fn used(&self, turns: u32, cost_usd: Option<f64>, estimated: bool) {
        self.steps.tell(Step::Used {
            turns,
            cost_usd,
            estimated,
        });
    }
}
