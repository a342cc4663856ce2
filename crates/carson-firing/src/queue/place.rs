//! Where one issue stands in the queue of a role.

use carson_config::{Repo, Role};
use carson_forge::{Forge, Issue};
use carson_home::Home;
use chrono::{DateTime, Utc};

use super::Unmended;
use super::held::{Held, HeldIssue};
use super::{Looked, look, resting};
use crate::review_queue::QueueError;
use crate::roles::hand_over::hand_over;

/// Where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It may be taken, once those before it are.
    Ready {
        /// How many are before it.
        before: usize,
    },
    /// It is not taken now.
    Held(Held),
    /// The next firing that comes to it gives it to people.
    Given(String),
    /// It is not in this queue.
    Elsewhere(String),
}

/// Looks for an open issue in the queue of a role.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn place(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    issue: &Issue,
    now: DateTime<Utc>,
) -> Result<Place, QueueError> {
    let label = role.work.label().unwrap_or_default();
    if let Some(why) = carson_forge::why_not_taken(issue, label) {
        return Ok(Place::Elsewhere(why));
    }
    let number = issue.number;
    let looked = look(home, role, repo, forge).await?;
    if let Some(held) = looked
        .held_issues()
        .into_iter()
        .find(|one| one.number == number)
    {
        return Ok(Place::Held(held.why));
    }
    let Some(before) = looked.ready.iter().position(|one| one.number == number) else {
        return Ok(Place::Elsewhere(
            "its text or its comments cannot be read".to_owned(),
        ));
    };
    let unmended = Unmended::of(home, role, repo, now).await;
    Ok(
        match why_not(home, role, (repo, forge), (number, &unmended), now).await? {
            Some(Held::Given(why)) => Place::Given(why),
            Some(held) => Place::Held(held),
            None => Place::Ready { before },
        },
    )
}

/// What a role may take in one repository, and what it does not.
#[derive(Debug)]
pub struct Stands {
    /// What its next firings take, in their order.
    pub ready: Vec<Issue>,
    /// More that its queue has, of which nothing else was asked.
    pub more: usize,
    /// What is not taken, and why.
    pub held: Vec<HeldIssue>,
}

/// Looks at the whole queue of a role; for its first issues, `most` of them, as its firings would.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn stand(
    home: &Home,
    role: &Role,
    at: (&Repo, &Forge),
    most: usize,
    now: DateTime<Utc>,
) -> Result<Stands, QueueError> {
    let (repo, forge) = at;
    let mut looked: Looked = look(home, role, repo, forge).await?;
    let queue = std::mem::take(&mut looked.ready);
    let mut stands = Stands {
        ready: Vec::new(),
        more: queue.len().saturating_sub(most),
        held: looked.held_issues(),
    };
    let unmended = Unmended::of(home, role, repo, now).await;
    for issue in queue.into_iter().take(most) {
        let number = issue.number;
        match why_not(home, role, at, (number, &unmended), now).await {
            Ok(Some(why)) => stands.held.push(HeldIssue { number, why }),
            // What cannot be asked of one is no reason to tell nothing of the others.
            Ok(None) | Err(_) => stands.ready.push(issue),
        }
    }
    Ok(stands)
}

/// Why a firing does not take an issue of its queue that nothing holds.
async fn why_not(
    home: &Home,
    role: &Role,
    at: (&Repo, &Forge),
    (number, unmended): (u64, &Unmended),
    now: DateTime<Utc>,
) -> Result<Option<Held>, QueueError> {
    let (repo, forge) = at;
    let attempts = forge.history(number).await?.attempts;
    let people = hand_over(home, role, at, (number, attempts), false).await?;
    if let Some(people) = people {
        return Ok(Some(Held::Given(people.told(number))));
    }
    if let Some(held) = unmended.held(number) {
        return Ok(Some(held));
    }
    let rests = resting(&home.store, repo, number, now).await?;
    Ok(rests.map(|until| Held::Failed { until }))
}
