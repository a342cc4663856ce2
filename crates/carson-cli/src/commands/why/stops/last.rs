//! What only a firing finds out: its row says so.

use carson_config::Role;
use carson_core::SkipKind;
use carson_core::settle::Halt;
use carson_store::Firing;

use super::{NEEDS_HUMAN, NO_WORK, Stop};

/// The stop that the role's newest firing met after admission, when nothing says that it is over.
pub(super) fn stop(carson: &str, role: &Role, row: &Firing) -> Option<Stop> {
    let why = row.reason.clone()?;
    let name = &role.name;
    match row.skip {
        Some(kind @ SkipKind::OpenPrs) => {
            let change = format!(
                "review its pull requests (`{carson} pr list`), or raise limits.max_open_prs in \
                 roles/{name}/role.toml"
            );
            Some(Stop::new(kind.as_str(), why, change))
        }
        Some(kind @ SkipKind::Preflight) => {
            let change = format!("mend that, then `{carson} fire {name}`");
            Some(Stop::new(kind.as_str(), why, change))
        }
        // Those of admission were looked at anew.
        Some(_) => None,
        None => idle(carson, role, row, why),
    }
}

/// The work source had nothing for it.
fn idle(carson: &str, role: &Role, row: &Firing, why: String) -> Option<Stop> {
    match row.facts.as_ref()?.halt.as_ref()? {
        Halt::NothingToDo => {
            let change = match role.work.label() {
                Some(label) => format!(
                    "give an issue the label {label}: `{carson} issue create \"What is to be \
                     done\" --label {label}`"
                ),
                None => format!("`work` in roles/{}/role.toml", role.name),
            };
            Some(Stop::new(NO_WORK, why, change))
        }
        Halt::WaitsForPeople(held) => {
            let change = format!(
                "read `{carson} issue show {} --repo {}`, and take its label needs:human (or \
                 do-not-pickup, plan-pending-approval) away",
                held.first, held.repo
            );
            Some(Stop::new(NEEDS_HUMAN, why, change))
        }
        _ => None,
    }
}
