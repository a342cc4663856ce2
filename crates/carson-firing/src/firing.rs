//! One firing, as the list of its stages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use carson_config::{Account, Repo, Role};
use carson_core::settle::{Halt, Settled, settle};
use carson_core::{AccountName, FiringId, RoleName, Stage, Work};
use carson_forge::{Claim, Forge};
use carson_git::{GitError, Mirror, Seen, Worktree};
use carson_proc::sandbox::Level;
use carson_proc::{Cancel, ProcessId};
use carson_store::{Firing as Row, Progress, Store, StoreError};
use chrono::{DateTime, Utc};
use serde_json::Value;
use thiserror::Error;
use tracing::{info, warn};

use crate::bench::Bench;
use crate::checks;
use crate::conclude;
use crate::egress::{self, WayOut};
use crate::household::Household;
use crate::stages::{diff_review, execute, facts, pick, plan, preflight, review, workspace};

/// How long a stage may go on after the wall clock ran out before it is dropped. Sessions stop by
/// themselves at the wall clock; this is for a git or forge call that does not.
const BACKSTOP: Duration = Duration::from_secs(30);

/// A firing that cannot even be concluded. Its row stays as it is, for recovery.
#[derive(Debug, Error)]
pub enum FiringError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No row has this id.
    #[error("no firing has the id {0}")]
    Unknown(FiringId),
    /// The row has ended, or another process runs it.
    #[error("firing {id} cannot be run: {why}")]
    NotClaimed {
        /// The firing.
        id: FiringId,
        /// Why.
        why: String,
    },
    /// The role was removed after the claim.
    #[error("firing {id} belongs to role {role}, which the settings no longer have")]
    RoleGone {
        /// The firing.
        id: FiringId,
        /// The role.
        role: RoleName,
    },
}

/// How a firing ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The firing.
    pub id: FiringId,
    /// Its outcome and reason.
    pub settled: Settled,
}

/// A firing while it runs, or while a dead one is concluded.
pub struct Firing<'h> {
    pub(crate) house: &'h Household,
    pub(crate) id: FiringId,
    pub(crate) claimed_at: DateTime<Utc>,
    pub(crate) role: &'h Role,
    pub(crate) cancel: Cancel,
    pub(crate) deadline: Instant,
    pub(crate) wanted: Wanted,
    pub(crate) way_out: WayOut,
    /// What its preflight found.
    pub(crate) checks: checks::Findings,
    taken: OnceLock<Taken<'h>>,
    place: OnceLock<Place>,
    tally: Mutex<Tally>,
    /// The weakest confinement so far.
    level: Mutex<Option<Level>>,
}

/// What an operator asked for with `--repo` and `--work`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub repo: Option<carson_core::RepoName>,
    pub work: Option<u64>,
}

/// The work of a firing and its claim on the forge.
pub(crate) struct Taken<'h> {
    pub repo: &'h Repo,
    pub forge: Forge,
    pub work: Work,
    pub claim: Claim,
}

/// Where a firing works.
pub(crate) struct Place {
    pub mirror: Mirror,
    pub worktree: Worktree,
    pub bench: Bench,
    known: Mutex<Known>,
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
            known: Mutex::new(Known::Nothing),
        }
    }

    /// Looks, or gives what was seen since somebody could write there.
    pub(crate) async fn look(&self) -> Result<Arc<Seen>, GitError> {
        match &*self.known() {
            Known::Nothing => {}
            Known::Seen(seen) => return Ok(Arc::clone(seen)),
            Known::Unseen(why) => {
                return Err(GitError::Failed {
                    verb: "look".into(),
                    detail: why.clone(),
                });
            }
        }
        match self.worktree.look(true).await {
            Ok(seen) => {
                let seen = Arc::new(seen);
                *self.known() = Known::Seen(Arc::clone(&seen));
                Ok(seen)
            }
            Err(error) => {
                *self.known() = Known::Unseen(error.to_string());
                Err(error)
            }
        }
    }

    /// Somebody could write there.
    pub(crate) fn forget(&self) {
        *self.known() = Known::Nothing;
    }

    /// Whether nobody could look, or not at everything.
    pub(crate) fn is_unseen(&self) -> bool {
        match &*self.known() {
            Known::Nothing => false,
            Known::Seen(seen) => !seen.facts().trouble.is_empty(),
            Known::Unseen(_) => true,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the sessions of a firing add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub account: Option<AccountName>,
    pub sessions: u32,
    pub turns: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    pub attempts: u32,
    /// Sessions that were tried again because the provider was not available.
    pub retries: u32,
    pub blocked_calls: u32,
    /// The stages of the sessions so far.
    pub stages: Vec<Stage>,
    /// The final text of the last session of each stage.
    pub last_words: BTreeMap<Stage, String>,
}

/// Runs a claimed firing to its end.
///
/// # Errors
/// Only when the firing cannot be read or concluded; every other trouble is an outcome.
pub async fn run(house: &Household, id: FiringId, cancel: Cancel) -> Result<Ended, FiringError> {
    let row = claimed_row(house, id).await?;
    let gone = || FiringError::RoleGone {
        id,
        role: row.role.clone(),
    };
    let role = house.fleet.roles.get(&row.role).ok_or_else(gone)?;
    let firing = Firing::of_row(house, &row, role, cancel);
    let me = ProcessId::current();
    let now = house.clock.now();
    if !house.store.start_firing(id, me.pid, me.start, now).await? {
        return Err(FiringError::NotClaimed {
            id,
            why: "another process was faster".to_owned(),
        });
    }
    info!(firing.id = %id, firing.role = %row.role, "firing started");
    let (halt, findings) = firing.through_the_stages().await;
    egress::end(&firing).await;
    let facts = facts::gather(&firing, halt, findings).await;
    firing.enter(Stage::Settle).await;
    let settled = settle(&facts);
    conclude::conclude(&firing, settled, &facts).await
}

async fn claimed_row(house: &Household, id: FiringId) -> Result<Row, FiringError> {
    let row = house
        .store
        .firing(id)
        .await?
        .ok_or(FiringError::Unknown(id))?;
    let refuse = |why: &str| {
        Err(FiringError::NotClaimed {
            id,
            why: why.to_owned(),
        })
    };
    if row.ended_at.is_some() {
        return refuse("it has ended");
    }
    if row.pid.is_some() {
        return refuse("a process runs it already");
    }
    Ok(row)
}

/// What the executing stages leave for settle.
pub(crate) type Findings = facts::Findings;

impl<'h> Firing<'h> {
    /// A firing as its row tells it.
    pub(crate) fn of_row(house: &'h Household, row: &Row, role: &'h Role, cancel: Cancel) -> Self {
        let tally = Tally {
            account: row.account.clone(),
            turns: row.turns,
            attempts: row.attempts,
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            cost_usd: row.cost_usd,
            cost_estimated: row.cost_estimated,
            retries: row.retries,
            ..Tally::default()
        };
        Self {
            house,
            id: row.id,
            claimed_at: row.claimed_at,
            role,
            cancel,
            deadline: Instant::now() + role.limits.wall_clock,
            wanted: Wanted {
                repo: row.repo.clone(),
                work: row.work.map(carson_core::work::WorkKey::number),
            },
            taken: OnceLock::new(),
            place: OnceLock::new(),
            way_out: WayOut::default(),
            checks: checks::Findings::default(),
            tally: Mutex::new(tally),
            level: Mutex::new(None),
        }
    }

    /// The stages in their order. A halt is the only early exit.
    async fn stages(&'h self) -> Result<Findings, Halt> {
        let ready = preflight::run(self).await?;
        let picked = pick::run(self, ready).await?;
        let placed = workspace::run(self, picked).await?;
        let planned = plan::run(self, placed).await?;
        let agreed = review::run(self, planned).await?;
        let executed = execute::run(self, agreed).await?;
        diff_review::run(self, executed).await
    }

    async fn through_the_stages(&'h self) -> (Option<Halt>, Findings) {
        let patience = self.role.limits.wall_clock + BACKSTOP;
        match tokio::time::timeout(patience, self.stages()).await {
            Ok(Ok(findings)) => (None, findings),
            Ok(Err(halt)) => (Some(halt), Findings::default()),
            Err(_) => (
                Some(Halt::TimedOut("the wall clock ran out".into())),
                Findings::default(),
            ),
        }
    }

    /// Notes the stage in the row. A store that does not answer now is not worth the firing: the
    /// stage is for people, and settle writes again.
    pub(crate) async fn enter(&self, stage: Stage) {
        info!(firing.id = %self.id, firing.stage = %stage, "stage");
        if let Err(error) = self
            .store()
            .set_stage(self.id, stage, self.house.clock.now())
            .await
        {
            warn!(firing.id = %self.id, %error, "the stage could not be noted");
        }
    }

    /// Adds an event of this firing. As with the stage, a store that does not answer now is not
    /// worth the firing.
    pub(crate) async fn event(&self, kind: &'static str, data: &Value) {
        let (role, now) = (Some(&self.role.name), self.house.clock.now());
        let noted = self
            .store()
            .event(kind, role, Some(self.id), data, now)
            .await;
        if let Err(error) = noted {
            warn!(firing.id = %self.id, event = kind, %data, %error, "an event could not be noted");
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.house.store
    }

    /// What is left of the wall clock.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(crate) fn has_stage(&self, stage: Stage) -> bool {
        self.role.stages.contains(&stage)
    }

    pub(crate) fn taken(&self) -> Option<&Taken<'h>> {
        self.taken.get()
    }

    pub(crate) fn take(&self, taken: Taken<'h>) -> &Taken<'h> {
        self.taken.get_or_init(|| taken)
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.get()
    }

    pub(crate) fn set_place(&self, place: Place) -> &Place {
        self.place.get_or_init(|| place)
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes note of how a run was confined: whether it is the first of this firing, and the level
    /// if it is weaker than what was noted before.
    pub(crate) fn confined(&self, level: Level) -> (bool, Option<Level>) {
        let mut noted = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let first = noted.is_none();
        let weaker = noted
            .as_ref()
            .is_none_or(|noted| level.weaker.len() > noted.weaker.len());
        if weaker {
            *noted = Some(level.clone());
        }
        (first, weaker.then_some(level))
    }

    /// Changes the tally and writes it to the row.
    pub(crate) async fn count(&self, change: impl FnOnce(&mut Tally)) {
        let tally = {
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut tally);
            tally.clone()
        };
        let progress = Progress {
            turns: tally.turns,
            tokens_in: tally.tokens_in,
            tokens_out: tally.tokens_out,
            cost_usd: tally.cost_usd,
            attempts: tally.attempts,
            retries: tally.retries,
            cost_estimated: tally.cost_estimated,
            sessions: tally.sessions,
            engine: self.account().map(|account| account.engine.to_string()),
            account: tally.account,
        };
        if let Err(error) = self.store().progress(self.id, &progress).await {
            warn!(firing.id = %self.id, %error, "progress could not be noted");
        }
    }

    /// The account whose engine this firing uses.
    pub(crate) fn account(&self) -> Option<&'h Account> {
        let name = self
            .tally()
            .account
            .or_else(|| self.role.engines.first().cloned())?;
        self.house.fleet.accounts.get(&name)
    }
}
