//! The usage windows of an account, as they were told.

use carson_core::AccountName;
use carson_core::admission::UsageWindow;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// A usage window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowLine {
    /// Its name, as the provider has it.
    pub window: String,
    /// How much of it was used, from 0 to 1.
    pub utilization: f64,
    /// When that was told.
    pub told_at: DateTime<Utc>,
    /// When it starts again.
    pub resets_at: Option<DateTime<Utc>>,
    /// Whether that still says something: neither has it started again, nor is the word too old.
    pub stands: bool,
}

/// Those of one account.
pub(crate) fn windows_of(
    all: &[UsageWindow],
    account: &AccountName,
    now: DateTime<Utc>,
) -> Vec<WindowLine> {
    let own = all.iter().filter(|window| window.account == *account);
    own.map(|window| WindowLine {
        window: window.name.clone(),
        utilization: window.utilization,
        told_at: window.seen_at,
        resets_at: window.resets_at,
        stands: window.stands(now),
    })
    .collect()
}
