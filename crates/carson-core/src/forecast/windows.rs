//! When usage windows would be used up.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::facts::{RoleFacts, WindowFacts};
use crate::id::{AccountName, RoleName};

/// A usage window that leaves nothing for a role before the night is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowEnd {
    /// Whose.
    pub account: AccountName,
    /// The window, as the provider names it.
    pub window: String,
    /// When.
    pub at: DateTime<Utc>,
    /// The role that waits first, or goes on with its next account.
    pub cuts: RoleName,
}

/// When these firings, earliest first, would have used the window up; never where nobody knows how fast it
/// fills.
pub(super) fn end(
    facts: &WindowFacts,
    firings: &[(DateTime<Utc>, &RoleFacts)],
) -> Option<WindowEnd> {
    let per_token = facts.per_token.filter(|rate| rate.is_finite())?.max(0.0);
    let account = &facts.window.account;
    let (mut used, mut resets_at) = (facts.window.utilization, facts.window.resets_at);
    for (at, role) in firings {
        if role.account.as_ref() != Some(account) {
            continue;
        }
        if resets_at.is_some_and(|resets| *at >= resets) {
            // The next one begins with its first use.
            let Some(length) = facts.length else { break };
            (used, resets_at) = (0.0, at.checked_add_signed(length));
        }
        // Parts of a window do not add up to the last digit.
        if used + 1e-9 >= facts.line(role.is_low) {
            return Some(WindowEnd {
                account: account.clone(),
                window: facts.window.name.clone(),
                at: *at,
                cuts: role.role.clone(),
            });
        }
        used += role.history.each_tokens() * per_token;
    }
    None
}
