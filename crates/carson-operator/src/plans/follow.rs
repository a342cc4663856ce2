//! What waits is noted, what is decided is carried out, what is gone is closed: looked at anew each time.

use carson_home::Home;
use chrono::TimeDelta;
use tracing::warn;

use super::carried::carry_out;
use super::files;
use super::noted::note_plans;
use crate::refusal::Refusal;

/// How long a question about an issue that somebody decided, and nobody carried out, is kept.
const LEFT: TimeDelta = TimeDelta::minutes(10);

/// Looks once; how many questions were noted, decided by a file, carried out or closed.
///
/// # Errors
/// When the store does not answer. A forge that does not is asked again the next time.
pub async fn follow(home: &Home) -> Result<u32, Refusal> {
    let mut did = 0;
    let waiting = note_plans(home).await?;
    did += waiting.new;
    did += files::read(home).await?;
    let now = home.clock.now();
    for row in home.store.open_approvals().await? {
        match (row.decision, row.plan) {
            (Some(decision), Some(_)) => match carry_out(home, &row, decision).await {
                Ok(_) => did += 1,
                Err(Refusal::Store(error)) => return Err(error.into()),
                Err(error) => warn!(%error, "what was decided cannot be carried out now"),
            },
            (Some(_), None) if row.decided_at.is_none_or(|at| at + LEFT > now) => {}
            (None, Some(plan)) if waiting.plans.contains(&plan) => {}
            (None, None) if row.expires_at > now => {}
            _ => did += u32::from(home.store.close_approval(&row.id, now).await?),
        }
    }
    Ok(did)
}
