//! The five rules.
//!
//! A rule is a function of one [`View`]: a command as it would run, with the shell's state and the
//! firing's facts. Each rule's file states what it refuses, what it allows, and how it decides what
//! cannot be resolved; its cases stand beside it.

pub mod bypass_checks;
pub mod credential_read;
pub mod delete_outside;
mod forge;
pub mod pipe_to_shell;
pub mod protected_push;
mod push;
mod secrets;

#[cfg(test)]
mod everyday;
#[cfg(test)]
mod lookalikes;
#[cfg(test)]
mod tests;

use crate::decision::{Block, Rule};
use crate::walk::View;

/// The rules, in the order in which they are asked.
static RULES: [Rule; 5] = [
    protected_push::RULE,
    bypass_checks::RULE,
    delete_outside::RULE,
    credential_read::RULE,
    pipe_to_shell::RULE,
];

/// What a rule says of a command: what it would do, in words, when it must not.
type Check = fn(&View<'_>) -> Option<String>;

/// The checks, in the order of [`RULES`].
const CHECKS: [Check; 5] = [
    protected_push::check,
    bypass_checks::check,
    delete_outside::check,
    credential_read::check,
    pipe_to_shell::check,
];

/// The catalogue.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// A rule by its identifier; the identifiers are this crate's own, so an unknown one is the last.
pub(crate) fn rule(id: &str) -> &'static Rule {
    RULES.iter().find(|rule| rule.id == id).unwrap_or(&RULES[4])
}

/// Asks every rule about one command.
pub(crate) fn judge(view: &View<'_>) -> Option<Block> {
    RULES
        .iter()
        .zip(CHECKS)
        .find_map(|(rule, check)| check(view).map(|what| Block::new(rule, &what)))
}
