//! The kinds of refusals.

use serde::Deserialize;

/// What kind of refusal it was: who can do something about it follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The account's limit: it ends by itself.
    Limit,
    /// The provider is down, or has too much to do, whoever asks.
    Outage,
    /// The sign-in is not valid: a person signs in.
    Auth,
    /// The account is not paid for: a person pays.
    Billing,
    /// Something between the CLI and its provider went wrong once: trying again may do.
    Transient,
    /// No refusal: the CLI's own ceiling of turns.
    Turns,
    /// No refusal: its own budget.
    Budget,
    /// The model would not do this task: another engine may.
    Capability,
    /// None of these, as far as any rule knows: trying again would not help.
    Fatal,
}
