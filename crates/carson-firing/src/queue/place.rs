//! Where one issue stands in the queue of a role.

use carson_config::{Repo, Role};
use carson_forge::{Forge, Issue};
use carson_home::Home;
use chrono::{DateTime, Utc};

use super::Unmended;
use super::held::Held;
use super::{look, resting};
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
    let attempts = forge.history(number).await?.attempts;
    let people = hand_over(home, role, (repo, forge), (number, attempts), false).await?;
    if let Some(people) = people {
        return Ok(Place::Given(people.told(role, number)));
    }
    if let Some(held) = Unmended::of(home, role, repo, now).await.held(number) {
        return Ok(Place::Held(held));
    }
    Ok(match resting(&home.store, repo, number, now).await? {
        Some(until) => Place::Held(Held::Failed { until }),
        None => Place::Ready { before },
    })
}
