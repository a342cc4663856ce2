//! The five rules.
//!
//! A rule is a function of one [`View`]: a command as it would run, with the shell's state and the
//! firing's facts. Each rule's file states what it refuses, what it allows, and how it decides what
//! cannot be resolved; its cases stand beside it.

pub mod bypass_checks;
pub mod credential_read;
pub mod delete_outside;
mod forge;
pub(crate) mod forge_tools;
pub mod pipe_to_shell;
mod protected;
pub mod protected_push;
mod push;
mod secrets;

#[cfg(test)]
mod everyday;
#[cfg(test)]
mod lookalikes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod themes;

use crate::decision::{Block, Rule};
use crate::walk::View;

/// Whether a path is that of a credential.
pub(crate) fn is_secret_path(path: &str, ctx: &crate::context::Context) -> bool {
    secrets::is_secret(path, ctx)
}

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

/// Whether a command only says how it is used: `--version` first, `--help` after nothing but its own
/// subcommands. Further on the word may be an option's value.
fn only_tells(view: &View<'_>) -> bool {
    let args = view.exec.args();
    let word = |arg: &&String| {
        let letters = |c: char| c == '-' || c == ':' || c.is_ascii_alphanumeric();
        !arg.starts_with('-') && arg.chars().all(letters)
    };
    let subcommands = args.iter().take_while(word).count();
    match args.get(subcommands).map(String::as_str) {
        Some("--help" | "-help") => true,
        Some("--version") => subcommands == 0,
        _ => view.exec.name() == "aws" && args.last().is_some_and(|arg| arg == "help"),
    }
}

/// Asks every rule about one command.
pub(crate) fn judge(view: &View<'_>) -> Option<Block> {
    // Not the walker's own words for what a command does: `<`, `:>`, `find -delete`.
    let program = |name: &str| !name.contains(['<', '>', ' ']) && name != "remove_tree";
    if program(view.exec.name()) && only_tells(view) {
        return None;
    }
    RULES
        .iter()
        .zip(CHECKS)
        .find_map(|(rule, check)| check(view).map(|what| Block::new(rule, &what)))
}
