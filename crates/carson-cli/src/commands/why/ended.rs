//! What would let the next firing go further than an ended one.

use carson_core::SkipKind;
use carson_core::settle::Halt;
use carson_store::Firing;

/// The key or the command, by the facts that settle saw; nothing where none helps.
pub fn change(carson: &str, row: &Firing) -> Option<String> {
    let role = &row.role;
    let key = |key: &str| Some(format!("raise {key} in roles/{role}/role.toml"));
    if let Some(stop) = row.skip {
        return skipped(carson, row, stop);
    }
    match row.facts.as_ref()?.halt.as_ref()? {
        Halt::TimedOut(_) => key("limits.wall_clock or limits.silence"),
        Halt::OutOfTurns => key("limits.max_turns"),
        Halt::OutOfMoney => key("limits.max_cost_usd"),
        Halt::Exhausted(_) => key("limits.max_attempts"),
        Halt::RateLimited {
            account,
            until: None,
            ..
        } => Some(format!(
            "mend the account, then `{carson} block clear {account}`"
        )),
        Halt::RateLimited { account, .. } => Some(format!(
            "wait, or `{carson} block clear {account}` if the provider lets you go on"
        )),
        Halt::NothingToDo | Halt::WaitsForPeople(_) => Some(format!("`{carson} why {role}`")),
        _ => None,
    }
}

fn skipped(carson: &str, row: &Firing, stop: SkipKind) -> Option<String> {
    let role = &row.role;
    match stop {
        SkipKind::TooLate => Some(format!(
            "raise max_late, or set catch_up, in roles/{role}/role.toml"
        )),
        SkipKind::Overlap => Some(format!(
            "overlap = \"queue-one\" in roles/{role}/role.toml lets one slot wait"
        )),
        SkipKind::Preflight => Some(format!("mend that, then `{carson} fire {role}`")),
        // Whether it still stands, and what ends it, is a question of now.
        _ => Some(format!(
            "`{carson} why {role}` says whether that still stands"
        )),
    }
}
