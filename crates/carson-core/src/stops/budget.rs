//! Money that may be spent in a time is used up.

use chrono::{DateTime, Utc};

use super::change::{Change, SettingsFile};
use super::gate::Gate;
use super::stop::{Cause, Standing, Stop};
use crate::settle::Halt;
use crate::skip::{SkipKind, SkipReason};
use crate::usage::Budget;

const KIND: SkipKind = SkipKind::new("budget");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    during: Some(|_, _| Halt::OutOfMoney),
    yields: false,
};

fn stands(gate: &Gate, _: DateTime<Utc>) -> Option<Standing> {
    let spent = |budget: &&Budget| budget.spent >= budget.max;
    let spent: Vec<&Budget> = gate.budgets.iter().filter(spent).collect();
    let first = shown(spent.first()?);
    Some(Standing {
        reason: SkipReason::new(KIND, format!("budget used up: {first}")),
        waits: false,
        causes: spent.iter().map(|budget| cause(gate, budget)).collect(),
    })
}

fn shown(budget: &Budget) -> String {
    let (spent, max, what) = (budget.so_far(), budget.max, budget.what);
    format!("{spent} of ${max:.2} for {what}")
}

fn cause(gate: &Gate, budget: &Budget) -> Cause {
    let file = match budget.key.starts_with("fleet.") {
        true => SettingsFile::Fleet,
        false => SettingsFile::Role(gate.role.clone()),
    };
    let change = Change::default().text("raise ").key(budget.key, file);
    Cause {
        why: format!("{} are spent", shown(budget)),
        until: None,
        change: change.text(", or wait until that time is over"),
    }
}
