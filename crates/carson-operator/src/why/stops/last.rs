//! What only a firing finds out: its row says so.

use carson_checks::StrayLabel;
use carson_config::Role;
use carson_core::SkipKind;
use carson_core::settle::Halt;
use carson_core::stops::{Change, SettingsFile};
use carson_store::Firing;

use super::{NO_WORK, Stop};
use crate::why::ended::asks_again;

/// The stop that the role's newest firing met after admission, when nothing says that it is over.
/// `repo` ends commands that need a repository.
pub(super) fn stop(role: &Role, row: &Firing, repo: &str) -> Option<Stop> {
    let why = row.reason.clone()?;
    let change = Change::default();
    match row.skip {
        Some(kind @ SkipKind::PREFLIGHT) => {
            // The stop is named in front of it.
            let named = format!("{kind}: ");
            let why = why.strip_prefix(&named).unwrap_or(&why).to_owned();
            let change = change
                .text("do what it says, then ")
                .command(format!("fire {}", role.name))
                .text(" (");
            let change = asks_again(change, &role.name, &why).text(" asks again without firing)");
            Some(Stop::new(kind.as_str(), why, change))
        }
        // Those of admission, and what people have to read, were looked at anew.
        Some(_) => None,
        None => idle(role, row, why, repo),
    }
}

/// Its work has another label.
pub(super) fn mistaken(role: &Role, stray: &StrayLabel) -> Stop {
    let change = Change::default()
        .command(stray.command())
        .text(", or set ")
        .key("work.label", SettingsFile::Role(role.name.clone()));
    Stop::new(NO_WORK, stray.told(), change)
}

/// The work source had nothing for it.
fn idle(role: &Role, row: &Firing, why: String, repo: &str) -> Option<Stop> {
    let change = Change::default();
    match row.facts.as_ref()?.halt.as_ref()? {
        Halt::NothingToDo => {
            let change = match role.work.label() {
                Some(label) => change
                    .text(&format!("give an issue the label {label}: "))
                    .command(format!(
                        "issue create \"What is to be done\" --label {label}{repo}"
                    )),
                None => change
                    .text("change ")
                    .key("work", SettingsFile::Role(role.name.clone())),
            };
            Some(Stop::new(NO_WORK, why, change))
        }
        // What is held, and what waits for people, was looked at anew.
        _ => None,
    }
}
