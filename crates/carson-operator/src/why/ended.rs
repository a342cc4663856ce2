//! What would let the next firing go further than an ended one.

use std::path::Path;

use carson_core::settle::Halt;
use carson_core::stops::{Change, SettingsFile};
use carson_core::{RoleName, SkipKind};
use carson_store::Firing;

/// The key or the command, by the facts that settle saw; nothing where none helps. `printed` has what its last check printed.
pub(super) fn change(row: &Firing, printed: Option<&Path>) -> Option<Change> {
    let change = Change::default();
    let raise = |words: &str, key: &str| {
        let file = SettingsFile::Role(row.role.clone());
        Some(Change::default().text(words).key(key, file))
    };
    if let Some(stop) = row.skip {
        return Some(skipped(row, stop));
    }
    match row.facts.as_ref()?.halt.as_ref()? {
        Halt::TimedOut(_) => raise("raise limits.wall_clock or ", "limits.silence"),
        Halt::OutOfTurns => raise("raise ", "limits.max_turns"),
        Halt::OutOfToolCalls => raise("raise ", "limits.max_tool_calls"),
        Halt::InCircles(_) | Halt::Stagnated(_) => {
            let shown = format!("show {} --transcript", row.id.short());
            let change = change.text("read what it did: ").command(shown);
            Some(change.text("; say in the issue what it lacks"))
        }
        Halt::OutOfMoney => raise("raise ", "limits.max_cost_usd"),
        Halt::AsBefore(_) => {
            let file = SettingsFile::Role(row.role.clone());
            let change = change.text("mend the base, or ").key("promise.run", file);
            Some(change.text(": it fails without any work, too"))
        }
        Halt::Exhausted(_) => match printed {
            Some(printed) => {
                let words = format!(
                    "read what the check printed in {}; to have it tried more often raise ",
                    printed.display()
                );
                raise(&words, "limits.max_attempts")
            }
            None => raise("raise ", "limits.max_attempts"),
        },
        Halt::StoryFailed(_) => {
            let id = row.work?.story()?;
            let shown = format!("show {} --transcript", row.id.short());
            let change = change.text("read what it did: ").command(shown);
            let why = format!("; say in the plan what story {id} may change, or must make");
            Some(change.text(&why))
        }
        Halt::RateLimited {
            account,
            until: None,
            ..
        } => {
            let change = change.text("mend the account, then ");
            Some(change.command(format!("block clear {account}")))
        }
        Halt::RateLimited { account, .. } => {
            let clear = format!("block clear {account}");
            let change = change.text("wait, or ").command(clear);
            Some(change.text(" if the provider lets you go on"))
        }
        Halt::NoSentinel(_) => {
            let shown = format!("show {} --transcript", row.id.short());
            let change = change.text("read what it said: ").command(shown);
            Some(change.text("; answer it in the issue if it asked something"))
        }
        Halt::NothingToDo | Halt::AllHeld { .. } | Halt::WaitsForPeople(_) => {
            Some(change.command(format!("why {}", row.role)))
        }
        _ => None,
    }
}

/// And the command that asks once more what a preflight said.
pub(super) fn asks_again(change: Change, role: &RoleName, why: &str) -> Change {
    let is_setup = why.contains("repo.") && why.contains(".setup: ");
    match is_setup {
        // Doctor runs none.
        true => change.command(format!("fire {role} --dry-run")),
        false => change.command("doctor"),
    }
}

fn skipped(row: &Firing, stop: SkipKind) -> Change {
    let (role, change) = (&row.role, Change::default());
    let file = SettingsFile::Role(role.clone());
    match stop {
        SkipKind::TOO_LATE => change.text("raise max_late, or set ").key("catch_up", file),
        SkipKind::OVERLAP => change
            .set("overlap", "\"queue-one\"", file)
            .text(" lets one slot wait"),
        SkipKind::PREFLIGHT => {
            let change = change
                .text("do what its line says, then ")
                .command(format!("fire {role}"))
                .text(" (");
            let why = row.reason.as_deref().unwrap_or_default();
            asks_again(change, role, why).text(" asks again without firing)")
        }
        // Whether it still stands, and what ends it, is a question of now.
        _ => change
            .command(format!("why {role}"))
            .text(" says whether that still stands"),
    }
}
