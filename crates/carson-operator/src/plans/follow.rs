//! What waits is noted, what is decided is carried out, what is gone is closed: looked at anew each time.

use carson_home::Home;
use chrono::TimeDelta;
use tracing::warn;

use super::carried::carry_out;
use super::files;
use super::noted::note_plans;
use crate::refusal::Refusal;

/// How long whoever said that an issue is to be made has for making it: two that made it at once would make two.
const THEIRS: TimeDelta = TimeDelta::minutes(3);
/// How long it is tried to carry out what was decided; as long as an effect.
const TRIED_FOR: TimeDelta = TimeDelta::days(5);

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
            (Some(_), None) if row.decided_at.is_some_and(|at| now < at + THEIRS) => {}
            (Some(_), _) if row.decided_at.is_some_and(|at| at + TRIED_FOR < now) => {
                warn!(repo = %row.repo, id = row.id, "what was decided could not be carried out in five days");
                did += u32::from(home.store.close_approval(&row.id, now).await?);
            }
            (Some(decision), _) => match carry_out(home, &row, decision).await {
                Ok(_) => did += 1,
                Err(Refusal::Store(error)) => return Err(error.into()),
                Err(error) => warn!(%error, "what was decided cannot be carried out now"),
            },
            (None, Some(plan)) if waiting.plans.contains(&plan) => {}
            (None, None) if row.expires_at > now => {}
            _ => did += u32::from(home.store.close_approval(&row.id, now).await?),
        }
    }
    Ok(did)
}
