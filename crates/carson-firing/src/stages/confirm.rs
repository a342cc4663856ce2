//! A session says that the work was done before: a second one, which has nothing but the base to look
//! at, must say the same. One session's word closes no issue.

use carson_core::settle::Halt;
use carson_core::{Stage, Verdict};
use tracing::warn;

use super::workspace::Placed;
use crate::firing::Firing;
use crate::prompt::Filling;
use crate::rooms;
use crate::session;

/// The end of a firing whose session claims that. Errors are those of the second session's run: what
/// cannot be confirmed for a reason of its own ends as that reason says.
pub(crate) async fn done_before(
    firing: &Firing<'_>,
    placed: &Placed<'_, '_>,
    claim: String,
) -> Result<Halt, Halt> {
    let filling = Filling {
        claim: Some(claim.clone()),
        ..Filling::default()
    };
    let base = placed.place.worktree.base.clone();
    let confirmed = match placed.place.look().await {
        Ok(seen) => {
            let room = rooms::with_commit(firing, placed, &seen, &base).await?;
            let said = session::read_only(firing, placed, &room, Stage::Confirm, &filling).await;
            rooms::clear(firing, placed).await;
            Verdict::parse(&said?) == Some(Verdict::Approve)
        }
        Err(error) => {
            warn!(firing.id = %firing.id, %error, "nobody could look whether the work was done before");
            false
        }
    };
    Ok(Halt::DoneBefore { claim, confirmed })
}
