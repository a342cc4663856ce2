//! A session says that the work was done before: a second one, which has nothing but the base to look
//! at, must say the same. One session's word closes no issue.

use carson_core::settle::Halt;
use carson_core::{Stage, Verdict};
use tracing::warn;

use crate::clean_rooms;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::prompt::Filling;
use crate::record::Record;
use crate::session::{self, Ask};

/// The end of a firing whose session claims that. Errors are those of the second session's run: what
/// cannot be confirmed for a reason of its own ends as that reason says.
pub(crate) async fn done_before(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    claim: String,
) -> Result<Halt, Halt> {
    let filling = Filling {
        claim: Some(claim.clone()),
        ..Filling::default()
    };
    let base = placed.place.worktree.base.clone();
    let confirmed = match placed.place.inspect().await {
        Ok(seen) => {
            let room = clean_rooms::with_commit(ctx, rec, placed, &seen, &base).await?;
            let ask = Ask {
                stage: Stage::Confirm,
                bench: &room,
                filling: &filling,
                must_change: false,
            };
            let said = session::read_only(ctx, rec, placed, ask).await;
            Verdict::parse(&said?) == Some(Verdict::Approve)
        }
        Err(error) => {
            warn!(firing.id = %ctx.id, %error, "nobody could look whether the work was done before");
            false
        }
    };
    Ok(Halt::DoneBefore { claim, confirmed })
}
