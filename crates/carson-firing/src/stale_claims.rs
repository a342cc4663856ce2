//! Claims that the forge still shows although their firing has ended.
//!
//! Every firing releases its claim at its end; but the forge may not have answered then, and a
//! row that has ended is never concluded again. Such a claim would hide its issue from the whole
//! fleet. So what the forge shows is compared with the rows, again and again, until they agree.

use carson_core::work::WorkKey;
use carson_core::{Outcome, Page};
use carson_forge::{Claim, Forge, ForgeError, IN_FLIGHT, Release};
use carson_store::StoreError;
use chrono::TimeDelta;
use thiserror::Error;
use tracing::{info, warn};

use crate::asked_forge::AskedForge;
use crate::labels::labels_after;
use crate::turn::Turns;
use carson_home::Home;
use carson_home::halt::Hinted;

/// How long another host has for its own claim after its firing ended, or had to: it is gone then.
const ABANDONED: TimeDelta = TimeDelta::hours(4);

/// Dead claims that could not be looked for.
#[derive(Debug, Error)]
pub(crate) enum SweepError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The forge does not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
}

impl AskedForge for SweepError {
    fn is_away(&self) -> bool {
        matches!(self, Self::Forge(error) if error.is_away())
    }
}

impl Hinted for SweepError {
    fn hint(&self) -> &str {
        match self {
            Self::Store(error) => error.hint(),
            Self::Forge(error) => error.hint(),
        }
    }
}

/// Releases every dead claim on the issues in flight; how many there were.
///
/// # Errors
/// When the store does not answer. A forge that does not is logged, and does not stop the others.
pub async fn sweep(home: &Home) -> Result<u32, StoreError> {
    let Some(_turn) = Turns::Claims.soon(home).await else {
        return Ok(0);
    };
    let mut released = 0;
    for (name, repo) in &home.fleet.repos {
        let forge = match home.forge(repo).await {
            Ok(forge) => forge,
            Err(error) => {
                warn!(%name, %error, "its claims cannot be looked at");
                continue;
            }
        };
        match sweep_one(home, &forge).await {
            Ok(count) => released += count,
            Err(SweepError::Store(error)) => return Err(error),
            Err(SweepError::Forge(error)) => {
                warn!(%name, %error, "its claims cannot be looked at");
            }
        }
    }
    Ok(released)
}

async fn sweep_one(home: &Home, forge: &Forge) -> Result<u32, SweepError> {
    let mut released = 0;
    for issue in forge.issues(Some(IN_FLIGHT)).await?.found {
        let history = match forge.history(issue.number).await {
            Err(error) if error.is_of_one() => {
                warn!(work.issue = issue.number, %error, "its claims cannot be read");
                continue;
            }
            history => history?,
        };
        released += release_dead(home, forge, issue.number, &history.unreleased).await?;
    }
    Ok(released)
}

/// Releases the dead ones of an issue's claims; how many there were. If another one lives, the
/// labels are its own.
pub(crate) async fn release_dead(
    home: &Home,
    forge: &Forge,
    number: u64,
    claims: &[Claim],
) -> Result<u32, SweepError> {
    let mut dead = Vec::new();
    for claim in claims {
        if let Some((outcome, spares)) = outcome_of_dead(home, number, claim).await? {
            dead.push((claim, outcome, spares));
        }
    }
    let in_flight =
        dead.len() == claims.len() && !dead.is_empty() && forge.issue(number).await?.has(IN_FLIGHT);
    let mut released = 0;
    for (claim, outcome, spares) in dead {
        let release = release(home, claim, (outcome, spares), in_flight);
        forge.release(number, claim, &release).await?;
        if in_flight && outcome == Outcome::AlreadyDone {
            forge.close_issue(number).await?;
        }
        info!(firing.id = %claim.firing, work.issue = number, "a dead claim is released");
        released += 1;
    }
    Ok(released)
}

/// How the firing of a claim ended, and whether it spares the work; `None` while it may live. Each host judges
/// its own firings, as long as it is there; a firing that no row knows may be that of another fleet, and
/// only dies of old age.
async fn outcome_of_dead(
    home: &Home,
    number: u64,
    claim: &Claim,
) -> Result<Option<(Outcome, bool)>, StoreError> {
    let now = home.clock.now();
    let Some(row) = home.store.firing(claim.firing).await? else {
        return Ok(claim.is_stale(now).then_some((Outcome::Crashed, false)));
    };
    let ours = claim.host == home.fleet.host;
    let is_over = match (ours, row.ended_at) {
        (true, ended) => ended.is_some(),
        (false, ended) => now - ended.unwrap_or(row.deadline_at) >= ABANDONED,
    };
    if !is_over {
        return Ok(None);
    }
    // It tried to take this issue, and worked on another one or none.
    if row.work.and_then(WorkKey::number) != Some(number) {
        return Ok(Some((Outcome::Skipped, false)));
    }
    // It does that itself, once the forge takes what comes before.
    if home.store.owes(row.id).await? && !claim.is_stale(now) {
        return Ok(None);
    }
    let spares = row.facts.is_some_and(|facts| facts.spares_the_work());
    Ok(Some((row.outcome.unwrap_or(Outcome::Crashed), spares)))
}

fn release(
    home: &Home,
    claim: &Claim,
    (outcome, spares): (Outcome, bool),
    labels: bool,
) -> Release {
    let role = home.fleet.roles.get(&claim.role);
    let ready = role.and_then(|role| role.work.label());
    let (add, counts) = labels_after(outcome, spares, ready);
    Release {
        outcome: outcome.to_string(),
        note: Page::from("The firing ended as ")
            .names(outcome)
            .says(", and this could not be said here at that time."),
        attempt_counts: counts,
        add: if labels { add } else { Vec::new() },
        remove: labels.then(|| IN_FLIGHT.to_owned()).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests;
