//! Catches who forks and ends faster than the process table can be read.
//!
//! A chain of processes that each fork once and end is never in a table for longer than one of
//! them lives: whoever was read is gone, whoever lives was born behind the reader. But numbers are
//! given in order, so the youngest processes can be looked at directly, one by one, and be killed
//! on sight.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process_id::ProcessId;
use crate::table::{self, Entry};

/// Looks for newcomers so often before the next look at the whole table.
const ROUNDS: usize = 200;

/// At most so many numbers are tried in a round: with more, nobody forks faster than we read.
const BACK: i32 = 32;

/// Born a moment after the youngest was asked for.
const AHEAD: i32 = 2;

/// Kills those `of_ours` that were born since `youngest` was; until nobody is born any more.
pub(crate) fn kill_fast_forkers(
    youngest: Option<i32>,
    of_ours: impl Fn(&Entry) -> bool,
) -> Vec<ProcessId> {
    let mut killed = Vec::new();
    let Some(mut known) = youngest else {
        return killed;
    };
    for _ in 0..ROUNDS {
        let Some(now) = table::youngest().filter(|now| *now != known) else {
            break;
        };
        // Behind the greatest number the counting starts again from a low one.
        let from = if now > known { known + 1 } else { 2 };
        let fresh = from.max(now - BACK)..=now + AHEAD;
        let prey = fresh.filter_map(table::entry).filter(|entry| !entry.zombie);
        for entry in prey.filter(&of_ours) {
            if kill(Pid::from_raw(entry.pid), Signal::SIGKILL).is_ok() {
                killed.push(ProcessId::from(entry));
            }
        }
        known = now;
    }
    killed
}
