//! What a role sees that takes no issues of a queue: for dry runs, and for `carson why`.

use carson_config::{Repo, Role};
use carson_forge::Forge;
use carson_home::Home;

use super::candidates::Candidates;
use super::kind::Looking;
use super::kind_of;
use crate::review_queue::QueueError;

/// Looks for work of a role that is no issue of its queue; `None` for a role that has only that.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn candidates(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    wanted: Option<u64>,
) -> Result<Option<Candidates>, QueueError> {
    let Some(look) = kind_of(role).look else {
        return Ok(None);
    };
    let looking = Looking {
        home,
        role,
        repo,
        forge,
        wanted,
    };
    look(looking).await.map(Some)
}
