//! Issues that people get, and no session.

use carson_config::{Repo, Role};
use carson_core::work::WorkKey;
use carson_forge::{Forge, ForgeError, Pull, PullState};
use tracing::warn;

use crate::review_queue::QueueError;
use carson_home::Home;

/// Why people get an issue.
pub(crate) enum HandOver {
    /// So many firings took it, and none finished it.
    OutOfAttempts(u32),
    /// People closed its pull request: their answer.
    Refused(Pull),
    /// Its pull request is finished work, and they have not read it yet: only its labels do not say so.
    Offered(u64),
}

impl HandOver {
    /// The same for people, with what gives the issue back to the role.
    pub(crate) fn told(&self, number: u64) -> String {
        match self {
            Self::OutOfAttempts(attempts) => format!(
                "{attempts} firings took it and none finished it (`carson retry {number}` gives it back)"
            ),
            Self::Offered(pull) => format!("its pull request #{pull} waits to be read"),
            Self::Refused(pull) => format!(
                "its pull request #{} was closed without merging (`carson retry {number}` gives it back)",
                pull.number
            ),
        }
    }
}

/// Whether an issue with so many attempts is for people; asks, and changes nothing. A no is told once: whoever
/// then takes the label away again, or names the issue in `carson fire`, means it.
pub(crate) async fn hand_over(
    home: &Home,
    role: &Role,
    (repo, forge): (&Repo, &Forge),
    (number, attempts): (u64, u32),
    is_named: bool,
) -> Result<Option<HandOver>, QueueError> {
    if attempts >= role.limits.max_work_attempts {
        return Ok(Some(HandOver::OutOfAttempts(attempts)));
    }
    let key = WorkKey::Issue(number);
    let rows = home.store.firings_of(&repo.name, key).await?;
    let Some(newest) = rows.iter().rev().find_map(|row| row.pr_number) else {
        return Ok(None);
    };
    let pull = match forge.pull(newest).await {
        // Nobody can have said no by what is not there any more.
        Err(ForgeError::NotFound { .. }) => {
            warn!(
                work.issue = number,
                pull = newest,
                "its last pull request is gone"
            );
            return Ok(None);
        }
        pull => pull?,
    };
    if pull.state == PullState::Open && !pull.draft {
        return Ok(Some(HandOver::Offered(newest)));
    }
    if is_named || pull.state != PullState::Closed {
        return Ok(None);
    }
    if home.store.knows_refusal(&repo.name, key, newest).await? {
        return Ok(None);
    }
    Ok(Some(HandOver::Refused(pull)))
}
