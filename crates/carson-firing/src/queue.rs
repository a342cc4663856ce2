//! Which issues of a role's queue may be taken now, and why the others are not.
//!
//! Looking changes nothing: a firing, a dry run and `carson why` ask the same and hear the same. What
//! follows from it (that people are told) is the firing's.

mod approval;
mod dependencies;
mod held;
mod place;
mod unmended;
mod waits;

use carson_config::{Repo, Role};
use carson_core::Outcome;
use carson_core::outcome::WorkEffect;
use carson_core::work::WorkKey;
use carson_forge::{ForPeople, Forge, ForgeError, Issue, Unread, assigned_to_a_person};
use carson_home::Home;
use carson_store::{Firing as Row, Store, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

pub(crate) use approval::approval_hash;
pub(crate) use dependencies::Reference;
pub(crate) use held::approval_words;
pub use held::{Blocking, Held, HeldIssue};
pub use place::{Place, Stands, place, stand};
pub use unmended::Unmended;
use waits::hold_for_dependencies;

/// How long a failed piece of work rests: this, doubled with each failure, …
const REST: TimeDelta = TimeDelta::seconds(10);
/// … and at most this.
const REST_MOST: TimeDelta = TimeDelta::minutes(5);

/// A role's queue in one repository.
#[derive(Debug, Default)]
pub struct Looked {
    /// What may be taken, in its order.
    pub ready: Vec<Issue>,
    /// What is not, and why.
    pub held: Vec<(Issue, Held)>,
    /// What waits for people.
    pub for_people: Vec<ForPeople>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// Issues that wait for each other in a ring; that wait is left out.
    pub rings: Vec<(u64, u64)>,
}

impl Looked {
    /// Every issue that is not taken.
    #[must_use]
    pub fn held_issues(&self) -> Vec<HeldIssue> {
        let people = self.for_people.iter().map(|one| HeldIssue {
            number: one.number,
            why: Held::ForPeople(one.label),
        });
        let held = self.held.iter().map(|(issue, why)| HeldIssue {
            number: issue.number,
            why: why.clone(),
        });
        let mut all: Vec<HeldIssue> = people.chain(held).collect();
        all.sort_by_key(|held| held.number);
        all
    }

    /// Leaves out all but one issue.
    pub(crate) fn only(&mut self, wanted: u64) {
        self.ready.retain(|issue| issue.number == wanted);
        self.held.retain(|(issue, _)| issue.number == wanted);
        self.for_people.retain(|one| one.number == wanted);
    }
}

/// Looks at the queue of a role; empty for one that takes no issues.
///
/// # Errors
/// When the forge does not answer.
pub async fn look(
    home: &Home,
    role: &Role,
    repo: &Repo,
    forge: &Forge,
) -> Result<Looked, ForgeError> {
    let Some(label) = role.work.label() else {
        return Ok(Looked::default());
    };
    let queue = forge.queue(label).await?;
    let mut looked = Looked {
        for_people: queue.for_people,
        unread: queue.unread,
        ..Looked::default()
    };
    let mut open = Vec::new();
    for issue in queue.ready {
        let held = match why_held(role, &issue, forge).await? {
            // A stranger's text is read no further.
            None => match approval::missing(repo, forge, &issue).await {
                Err(error) => match error.unread() {
                    Some(unread) => {
                        looked.unread.push(unread);
                        continue;
                    }
                    None => return Err(error),
                },
                Ok(missing) => missing,
            },
            held => held,
        };
        match held {
            None => open.push(issue),
            Some(why) => looked.held.push((issue, why)),
        }
    }
    hold_for_dependencies(home, repo, forge, open, &mut looked).await;
    Ok(looked)
}

/// What the issue itself says.
async fn why_held(role: &Role, issue: &Issue, forge: &Forge) -> Result<Option<Held>, ForgeError> {
    let mut required = role.work.labels.iter();
    if let Some(label) = required.find(|label| !issue.has(label)) {
        return Ok(Some(Held::Lacks(label.clone())));
    }
    if issue.assignees.is_empty() {
        return Ok(None);
    }
    let person = assigned_to_a_person(issue, forge.me().await?);
    Ok(person.map(|name| Held::Assigned(name.to_owned())))
}

/// Until when an issue rests that failed; `None` when it does not.
///
/// # Errors
/// When the store does not answer.
pub async fn resting(
    store: &Store,
    repo: &Repo,
    number: u64,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let rows = store.firings_of(&repo.name, WorkKey::Issue(number)).await?;
    Ok(rests_until(&rows).filter(|until| *until > now))
}

/// When the rest after the last failure is over, as failed firings in a row have it. A second try keeps
/// nobody from going on with the first.
pub(crate) fn rests_until(rows: &[Row]) -> Option<DateTime<Utc>> {
    let mut rows = rows.iter().filter(|row| row.second_try.is_none());
    let failed = |row: &&Row| {
        let effect = row.outcome.map(Outcome::work_effect);
        matches!(
            effect,
            Some(WorkEffect::BackToQueue | WorkEffect::NeedsHuman)
        )
    };
    let in_a_row = rows.clone().rev().take_while(failed).count();
    let last = rows.next_back().filter(|_| in_a_row > 0)?.ended_at?;
    let doubled = u32::try_from(in_a_row - 1).unwrap_or(u32::MAX).min(16);
    let rest = REST.checked_mul(1 << doubled).unwrap_or(REST_MOST);
    last.checked_add_signed(rest.min(REST_MOST))
}
