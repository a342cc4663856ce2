//! The one place that carries effects out.
//!
//! A list of effects stands in the row before any of it is done. It is gone through in order; what the
//! forge cannot take now is owed, and stops what comes after it: a claim is not released as done while
//! its pull request is missing. What is owed is tried again, ever later and for some days, by the
//! firing's own recovery or by a later pass. What the forge will never take is told to people.

mod await_approval;
mod bearer;
mod call;
mod file_issue;
mod issue_in;
mod waiting;

use carson_config::Repo;
use carson_core::{Effect, Event, FiringId, RepoName};
use carson_forge::ForgeError;
use carson_git::GitError;
use carson_store::{EffectRow, EffectState, Firing as Row, StoreError, Tried};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use tracing::{info, warn};

pub(crate) use self::await_approval::TO_APPROVE;
use self::bearer::Went;
pub(crate) use self::bearer::{Bearer, Carried, OpenedPull};
pub use self::file_issue::DEPENDS_ON;
pub use self::issue_in::IssueIn;
pub use self::waiting::{PlanThatWaits, waiting_plan, waiting_plans};
use crate::ended_pulls::PullError;
use crate::turn::Turns;
use carson_home::halt::describe_error;
use carson_home::{ForgeOpenError, Home};

/// The first wait before another try; each further one is twice as long.
const FIRST: TimeDelta = TimeDelta::minutes(1);
/// The longest of them.
const LONGEST: TimeDelta = TimeDelta::hours(6);
/// The wait between two looks whether a person said yes.
const LOOK: TimeDelta = TimeDelta::minutes(1);
/// Tries after which a forge that never answers counts as one that refuses: about five days.
const MAX_TRIES: u32 = 28;

/// An ended firing that owed the forge something.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CaughtUp {
    /// The firing.
    pub id: FiringId,
    /// How many of its effects the forge took now.
    pub effects: u32,
}

impl Bearer<'_> {
    /// Carries out what is still owed of this list, in order, until the forge does not answer.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) async fn carry_out(&self, effects: &[EffectRow]) -> Result<Carried, StoreError> {
        let mut carried = Carried::default();
        for row in effects {
            match row.state {
                EffectState::Done => self.recall(row, &mut carried).await?,
                EffectState::Refused => refused(row, &mut carried),
                EffectState::Owed if carried.dropped.is_some() => {
                    self.leave_undone(row, &carried).await?;
                }
                EffectState::Owed if !self.carry_out_one(row, &mut carried).await? => break,
                EffectState::Owed => {}
            }
        }
        Ok(carried)
    }

    /// What stands before it was not approved.
    async fn leave_undone(&self, row: &EffectRow, carried: &Carried) -> Result<(), StoreError> {
        let tried = Tried {
            state: EffectState::Refused,
            said: carried.dropped.as_deref(),
            next_at: None,
        };
        self.as_firing().note_effect(row.n, &tried).await?;
        Ok(())
    }

    /// What an earlier pass did.
    async fn recall(&self, row: &EffectRow, carried: &mut Carried) -> Result<(), StoreError> {
        if let Effect::FileIssue { .. } = row.effect {
            let filed = IssueIn::filed(row, &self.repo.name);
            carried.filed.push(filed);
        }
        if let Effect::OpenPull { .. } | Effect::JoinPull { .. } = row.effect {
            let draft = matches!(row.effect, Effect::OpenPull { draft: true, .. });
            let firing = self.home.store.firing(self.id()).await?;
            carried.pull = firing.and_then(|firing| {
                Some(OpenedPull {
                    number: firing.pr_number?,
                    url: firing.pr_url?,
                    draft,
                })
            });
        }
        Ok(())
    }

    /// Tries one; whether to go on with the next.
    async fn carry_out_one(
        &self,
        row: &EffectRow,
        carried: &mut Carried,
    ) -> Result<bool, StoreError> {
        let (store, now) = (&self.home.store, self.home.clock.now());
        let effect = row.effect.kind();
        // Who was taken for dead changes nothing: somebody else is at it by now.
        self.as_firing().acts().await?;
        let tried = match self.call(row, carried).await {
            Ok(Went::Done(said)) => {
                carried.done += 1;
                info!(firing.id = %self.id(), effect, said, "done on the forge");
                (EffectState::Done, said, None)
            }
            Ok(Went::Waits(said)) => (EffectState::Owed, said, Some(now + LOOK)),
            Ok(Went::Never(said)) => {
                info!(firing.id = %self.id(), effect, said, "not to be done any more");
                (EffectState::Refused, said, None)
            }
            Err(error) => {
                let said = describe_error(&error);
                let said = self.home.redactor.redact(&said).into_owned();
                warn!(firing.id = %self.id(), effect, said, "the forge did not take an effect");
                match next_try(row, &error, now) {
                    Some(at) => (EffectState::Owed, said, Some(at)),
                    None => (EffectState::Refused, said, None),
                }
            }
        };
        let (state, said, next_at) = tried;
        // The pull request's number stands in the firing's row once the effect counts as done.
        let is_pull = state == EffectState::Done
            && matches!(
                row.effect,
                Effect::OpenPull { .. } | Effect::JoinPull { .. }
            );
        let tried = Tried {
            state,
            said: Some(&said),
            next_at,
        };
        match carried.pull.as_ref().filter(|_| is_pull) {
            Some(pull) => {
                let opened = (pull.number, pull.url.as_str());
                let noted = self.as_firing().note_pull_effect(row.n, &tried, opened);
                noted.await?;
            }
            None => {
                self.as_firing().note_effect(row.n, &tried).await?;
            }
        }
        match state {
            EffectState::Done => {}
            EffectState::Owed => carried.owed = Some(owed_text(&row.effect, &said)),
            EffectState::Refused => {
                let event = Event::EffectRefused {
                    effect: row.effect.kind(),
                    why: said.clone(),
                };
                let role = Some(&self.claim.role);
                store.event(&event, role, Some(self.id()), now).await?;
                refused(
                    &EffectRow {
                        said: Some(said),
                        ..row.clone()
                    },
                    carried,
                );
            }
        }
        Ok(state != EffectState::Owed)
    }
}

/// When it is tried again, if it is.
fn next_try(row: &EffectRow, error: &PullError, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    if !may_pass(error) {
        return None;
    }
    match &row.effect {
        // The merger's next firing looks anew.
        Effect::MergePull { .. } => None,
        // It was asked every minute, and has its own end.
        Effect::AwaitApproval { until, .. } => {
            let all: TimeDelta = (0..MAX_TRIES).map(wait).sum();
            (now < *until + all).then(|| now + LOOK)
        }
        _ => (row.tries + 1 < MAX_TRIES).then(|| now + wait(row.tries)),
    }
}

fn refused(row: &EffectRow, carried: &mut Carried) {
    let said = row.said.clone().unwrap_or_default();
    match &row.effect {
        _ if carried.dropped.is_some() => {}
        Effect::AwaitApproval { .. } => {
            carried.trouble.push(said.clone());
            carried.dropped = Some(said);
        }
        Effect::OpenPull { head, .. } => {
            let said = format!("{said}; the work is on the branch {head}");
            let text = format!("no pull request could be opened: {said}");
            carried.trouble.push(text);
            carried.pull_refused = Some(said);
        }
        Effect::MergePull { .. } => carried.not_merged = Some(said),
        Effect::FileIssue { .. } => {
            carried.filed.push(None);
            let text = format!("an issue was not filed: {said}");
            carried.trouble.push(text);
        }
        _ => carried
            .trouble
            .push(format!("the forge could not be told: {said}")),
    }
}

fn owed_text(effect: &Effect, said: &str) -> String {
    match effect {
        Effect::OpenPull { .. } => {
            format!("its pull request is opened once the forge takes it: {said}")
        }
        Effect::AwaitApproval { .. } => format!("its issues are filed once {said}"),
        _ => format!("the forge is told once it answers: {said}"),
    }
}

/// Whether the same call may succeed later, by itself or once a person renewed a token or mended a
/// file.
fn may_pass(error: &PullError) -> bool {
    match error {
        PullError::Store(_) => true,
        PullError::Git(error) => !matches!(
            error,
            GitError::Conflict { .. } | GitError::PushRejected { .. }
        ),
        PullError::NoBranch(_) => false,
        PullError::Open(ForgeOpenError::Token(_)) => true,
        PullError::Open(ForgeOpenError::Forge(error)) | PullError::Forge(error) => forge_may(error),
    }
}

fn forge_may(error: &ForgeError) -> bool {
    match error {
        ForgeError::Unauthorized
        // The settings will have its new name.
        | ForgeError::Moved { .. }
        | ForgeError::AppKey { .. }
        | ForgeError::Forbidden { .. }
        | ForgeError::RateLimited(_)
        | ForgeError::Unavailable { .. }
        | ForgeError::Io { .. }
        | ForgeError::File { .. }
        | ForgeError::Record { .. } => true,
        ForgeError::NotFound { .. }
        | ForgeError::Invalid { .. }
        | ForgeError::HeadMoved { .. }
        | ForgeError::Lacks { .. } => false,
    }
}

fn wait(tries: u32) -> TimeDelta {
    (FIRST * 2_i32.pow(tries.min(10))).min(LONGEST)
}

/// Carries out what ended firings of this host still owe, and what hosts owe that were taken for dead: those
/// of which something was done now.
///
/// # Errors
/// When the store does not answer. A forge that does not is logged, and asked again later.
pub(crate) async fn replay(home: &Home) -> Result<Vec<CaughtUp>, StoreError> {
    let mut caught_up = Vec::new();
    let repos: Vec<&RepoName> = home.fleet.repos.keys().collect();
    let taken = home.store.take_over_owing(&home.fleet.host, &repos).await?;
    if taken > 0 {
        info!(
            firings = taken,
            "what a host owes that is gone is carried out here"
        );
    }
    for id in home.store.owing(&home.fleet.host, home.clock.now()).await? {
        if let Some(row) = home.store.firing(id).await? {
            let effects = match replay_one(home, &row).await {
                // Another host took it over a moment ago.
                Err(error) if error.is_fenced() => continue,
                carried => carried?.done,
            };
            if effects > 0 {
                caught_up.push(CaughtUp { id, effects });
            }
        }
    }
    Ok(caught_up)
}

/// Files what a plan says: the operator approved it here. The issues, as far as the forge took them now; while
/// another process is at it, they follow.
///
/// # Errors
/// When the store does not answer.
pub async fn approve(home: &Home, (row, n): &(Row, u32)) -> Result<Vec<IssueIn>, StoreError> {
    let tried = Tried {
        state: EffectState::Done,
        said: Some("approved by the operator"),
        next_at: None,
    };
    home.store
        .as_firing(row.id, row.epoch)
        .note_effect(*n, &tried)
        .await?;
    let Some(_turn) = Turns::Recovery.soon(home).await else {
        return Ok(Vec::new());
    };
    let filed = replay_one(home, row).await?.filed;
    Ok(filed.into_iter().flatten().collect())
}

/// Drops the plans that wait on an issue: nothing of them is filed. How many.
///
/// # Errors
/// When the store does not answer.
pub async fn drop_plans(home: &Home, repo: &Repo, issue: u64) -> Result<u32, StoreError> {
    let turn = Turns::Recovery.soon(home).await;
    let mut dropped = 0;
    while let Some((row, n)) = waiting_plan(home, repo, issue).await? {
        let tried = Tried {
            state: EffectState::Refused,
            said: Some("the operator dropped the plan"),
            next_at: None,
        };
        home.store
            .as_firing(row.id, row.epoch)
            .note_effect(n, &tried)
            .await?;
        if turn.is_some() {
            replay_one(home, &row).await?;
        }
        dropped += 1;
    }
    Ok(dropped)
}

/// What an effect says that is not done any more, because an operator took its firing back.
pub const TAKEN_BACK: &str = "an operator took the firing back";

/// Drops all that an ended firing still owes, for who takes it back; `false` while another process carries
/// such effects out.
///
/// # Errors
/// When the store does not answer.
pub async fn drop_owed(home: &Home, firing: &Row) -> Result<bool, StoreError> {
    let Some(_turn) = Turns::Recovery.soon(home).await else {
        return Ok(false);
    };
    let tried = Tried {
        state: EffectState::Refused,
        said: Some(TAKEN_BACK),
        next_at: None,
    };
    let as_firing = home.store.as_firing(firing.id, firing.epoch);
    for row in home.store.effects(firing.id).await? {
        as_firing.note_effect(row.n, &tried).await?;
    }
    Ok(true)
}

async fn replay_one(home: &Home, row: &Row) -> Result<Carried, StoreError> {
    let repo = row.repo.as_ref();
    let Some(repo) = repo.and_then(|name| home.fleet.repos.get(name)) else {
        // Its repository is not in the settings now; it may come back.
        return Ok(Carried::default());
    };
    let forge = match home.forge(repo).await {
        Ok(forge) => forge,
        Err(error) => {
            warn!(firing.id = %row.id, %error, "the forge of an ended firing cannot be opened");
            return Ok(Carried::default());
        }
    };
    let effects = home.store.effects(row.id).await?;
    let bearer = Bearer::of_row(home, repo, &forge, row);
    bearer.carry_out(&effects).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_owed_for_days_and_not_for_ever() {
        let all: TimeDelta = (0..MAX_TRIES).map(wait).sum();
        assert!(
            all > TimeDelta::days(4) && all < TimeDelta::days(7),
            "{all}"
        );
        assert_eq!(wait(0), FIRST);
        assert_eq!(wait(u32::MAX), LONGEST);
    }
}
