//! What a role sees that takes no issues of a queue: for dry runs, and for `carson why`.

use carson_config::{Repo, Role};
use carson_core::work::WorkKey;
use carson_forge::Forge;
use carson_home::Home;

use super::candidates::Candidates;
use super::kind::Looking;
use super::kind_of;
use crate::review_queue::QueueError;

/// Looks for work of a role that is no issue of its queue, or for the one that a person names; `None` for a
/// role that has only that.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn candidates(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    wanted: Option<WorkKey>,
) -> Result<Option<Candidates>, QueueError> {
    let looking = Looking {
        home,
        role,
        repo,
        forge,
        wanted: wanted.and_then(WorkKey::number),
        story: wanted.and_then(WorkKey::story),
        me: None,
        by_hand: wanted.is_some(),
    };
    look(looking).await
}

/// How one piece of such work stands with a role, which nobody names to it.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn stands(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    number: u64,
) -> Result<Option<Candidates>, QueueError> {
    let looking = Looking {
        home,
        role,
        repo,
        forge,
        wanted: Some(number),
        story: None,
        me: None,
        by_hand: false,
    };
    look(looking).await
}

async fn look(looking: Looking<'_>) -> Result<Option<Candidates>, QueueError> {
    match kind_of(looking.role).look {
        Some(look) => look(looking).await.map(Some),
        None => Ok(None),
    }
}
