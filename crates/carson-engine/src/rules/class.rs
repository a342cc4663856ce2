//! The kinds of refusals.

use serde::Deserialize;

/// What kind of refusal it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The account's limit.
    Limit,
    /// The provider has too much to do, whoever asks.
    Overloaded,
    /// The sign-in is not valid.
    Auth,
    /// The account is not paid for.
    Billing,
    /// Trying again may do.
    Transient,
    /// No refusal: the CLI's own ceiling of turns.
    Turns,
    /// No refusal: its own budget.
    Budget,
    /// None of these.
    Other,
}
