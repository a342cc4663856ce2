//! What a role's newest firings were.

use carson_core::forecast::{History, Past};
use carson_core::{Outcome, RoleName};
use carson_home::Home;
use carson_store::{Filter, Firing, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

/// What is older says little of what comes.
const LATELY: TimeDelta = TimeDelta::days(14);
/// So many are enough for an average.
const NEWEST: u32 = 50;

/// The newest firings of a role that were not stopped before they began.
pub(super) async fn history(
    home: &Home,
    role: &RoleName,
    now: DateTime<Utc>,
) -> Result<History, StoreError> {
    let filter = Filter {
        role: Some(role.clone()),
        since: Some(now - LATELY),
        skipped: false,
        limit: NEWEST,
    };
    let rows = home.store.firings(&filter).await?;
    Ok(History::of(rows.iter().filter_map(past)))
}

/// A firing that ended by itself. What met a wall says nothing of what one costs that does not.
fn past(row: &Firing) -> Option<Past> {
    let met_a_wall = [Outcome::Skipped, Outcome::RateLimited, Outcome::Auth];
    let outcome = row.outcome.filter(|outcome| !met_a_wall.contains(outcome));
    let (_, ended_at) = (outcome?, row.ended_at?);
    Some(Past {
        cost_usd: match row.sessions {
            0 => Some(0.0),
            _ => row.cost_usd,
        },
        estimated: row.cost_estimated,
        tokens: row.tokens_in.saturating_add(row.tokens_out),
        ran: ended_at - row.claimed_at,
    })
}
