//! Whether attempts get anywhere: pure, of what each of them left.
//!
//! Stagnation is any of four:
//!
//! - the executor printed the same `limit` times in a row, and gets nowhere;
//! - what it printed goes round and it gets nowhere, or the tree that it left goes round: a cycle of two to four attempts,
//!   seen whole twice;
//! - the check fails in the same way and the tree is the same, `limit` times in a row, whatever was said;
//! - the check fails in the same way `2 × limit` times in a row, whatever was changed; it is said at `limit`.
//!
//! Many an executor says "Done." each time. So an attempt that changed the tree, and behind which the check fails as it
//! never did before, gets somewhere, whatever was said of it. One that prints nothing has printed nothing that could be the
//! same.

use std::fmt;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Lengths of a cycle that are looked for.
const PERIODS: RangeInclusive<usize> = 2..=4;

/// What one attempt left, as far as it can be told from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its number.
    pub attempt: u32,
    /// What the executor printed, without noise; `None` for nothing.
    pub output: Option<Digest>,
    /// How the check failed, without noise; `None` when it was not run.
    pub failure: Option<Digest>,
    /// The tree that it left; `None` when nobody looked.
    pub tree: Option<Digest>,
    /// Whether the executor left the tree as it found it.
    pub is_idle: bool,
}

/// What attempts that get nowhere have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stagnation {
    /// The executor printed the same.
    SameOutput {
        /// The attempts, oldest first.
        attempts: Vec<u32>,
    },
    /// What it printed goes round.
    OutputCycle {
        /// So many attempts are one round.
        period: usize,
        /// The attempts of two rounds, oldest first.
        attempts: Vec<u32>,
    },
    /// The tree goes round.
    TreeCycle {
        /// So many attempts are one round.
        period: usize,
        /// The attempts of two rounds, oldest first.
        attempts: Vec<u32>,
    },
    /// Neither the tree nor the way in which the check fails changes.
    NothingChanges {
        /// The attempts, oldest first.
        attempts: Vec<u32>,
    },
    /// The check fails in the same way, whatever is changed.
    SameFailure {
        /// The attempts, oldest first.
        attempts: Vec<u32>,
    },
}

/// What is made of the attempts so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They get somewhere, as far as anybody can see.
    GoesOn,
    /// It is too early to stop, but not to say.
    Doubtful(Stagnation),
    /// They get nowhere.
    Stagnated(Stagnation),
}

/// Judges the attempts of a run, oldest first, after the last of them failed.
#[must_use]
pub fn judge(traces: &[Trace], limit: u32) -> Verdict {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(2);
    let row = |same: fn(&Trace, &Trace) -> bool| row(traces, same);
    let same_output = same_output(traces);
    if same_output.len() >= limit {
        return Verdict::Stagnated(Stagnation::SameOutput {
            attempts: same_output,
        });
    }
    let nothing = row(|one, other| fails_alike(one, other) && has_same_tree(one, other));
    if nothing.len() >= limit {
        return Verdict::Stagnated(Stagnation::NothingChanges { attempts: nothing });
    }
    if let Some((period, attempts)) = cycle(traces, |trace| trace.output)
        && (traces.len() - period..traces.len()).all(|at| !gets_on(traces, at))
    {
        return Verdict::Stagnated(Stagnation::OutputCycle { period, attempts });
    }
    if let Some((period, attempts)) = cycle(traces, |trace| trace.tree) {
        return Verdict::Stagnated(Stagnation::TreeCycle { period, attempts });
    }
    let failing = row(fails_alike);
    let said = failing.len();
    let found = Stagnation::SameFailure { attempts: failing };
    match said {
        said if said >= limit.saturating_mul(2) => Verdict::Stagnated(found),
        said if said >= limit => Verdict::Doubtful(found),
        _ => Verdict::GoesOn,
    }
}

/// The attempts before the last one that printed the same, newest first: what is said of an attempt before
/// it is too often.
#[must_use]
pub fn matches(traces: &[Trace]) -> Vec<u32> {
    let Some((last, before)) = traces.split_last() else {
        return Vec::new();
    };
    let same = before
        .iter()
        .rev()
        .filter(|trace| trace.output.is_some() && trace.output == last.output);
    same.map(|trace| trace.attempt).collect()
}

fn fails_alike(one: &Trace, other: &Trace) -> bool {
    one.failure.is_some() && one.failure == other.failure
}

/// Whether an attempt changed the tree, and the check fails behind it as behind none before.
fn gets_on(traces: &[Trace], at: usize) -> bool {
    let Some((before, this)) = traces.get(..=at).and_then(|some| {
        let (this, before) = some.split_last()?;
        Some((before, this))
    }) else {
        return false;
    };
    let is_new = this.failure.is_some()
        && before
            .iter()
            .all(|one| one.failure.is_some() && !fails_alike(one, this));
    is_new && before.last().is_some_and(|last| !has_same_tree(last, this))
}

/// The attempts at the end that printed the same, and of which none but the first gets somewhere.
fn same_output(traces: &[Trace]) -> Vec<u32> {
    let is_same = |at: usize| {
        let (one, other) = (&traces[at - 1], &traces[at]);
        one.output.is_some() && one.output == other.output && !gets_on(traces, at)
    };
    let alike = (1..traces.len())
        .rev()
        .take_while(|at| is_same(*at))
        .count();
    let from = traces.len().saturating_sub(alike + 1);
    traces[from..].iter().map(|trace| trace.attempt).collect()
}

/// `other` follows `one`. What the check itself leaves in the tree is nobody's progress.
fn has_same_tree(one: &Trace, other: &Trace) -> bool {
    other.is_idle || one.tree.is_some() && one.tree == other.tree
}

/// The attempts at the end of which each is like the one before.
fn row(traces: &[Trace], same: fn(&Trace, &Trace) -> bool) -> Vec<u32> {
    let pairs = traces.windows(2).rev();
    let alike = pairs.take_while(|pair| same(&pair[0], &pair[1])).count();
    let from = traces.len().saturating_sub(alike + 1);
    traces[from..].iter().map(|trace| trace.attempt).collect()
}

/// The shortest cycle that the attempts end with twice.
fn cycle(traces: &[Trace], of: fn(&Trace) -> Option<Digest>) -> Option<(usize, Vec<u32>)> {
    PERIODS.into_iter().find_map(|period| {
        let two = traces.get(traces.len().checked_sub(2 * period)?..)?;
        let (first, second) = two.split_at(period);
        let is_round = first
            .iter()
            .zip(second)
            .all(|(one, other)| of(one) == of(other));
        // One value all the time is no cycle.
        let changes = first.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]));
        let is_known = two.iter().all(|trace| of(trace).is_some());
        let attempts = || two.iter().map(|trace| trace.attempt).collect();
        (is_round && changes && is_known).then(|| (period, attempts()))
    })
}

impl fmt::Display for Stagnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameOutput { attempts } => write!(
                f,
                "output matches {}: the same {} times in a row",
                earlier(attempts),
                attempts.len()
            ),
            Self::OutputCycle { period, attempts } => {
                write!(
                    f,
                    "output goes round in {period} attempts: {}",
                    round(*period, attempts)
                )
            }
            Self::TreeCycle { period, attempts } => {
                write!(
                    f,
                    "the tree goes round in {period} attempts: {}",
                    round(*period, attempts)
                )
            }
            Self::NothingChanges { attempts } => write!(
                f,
                "the check fails as in {}, and the tree is the same: {} attempts in a row changed nothing",
                earlier(attempts),
                attempts.len()
            ),
            Self::SameFailure { attempts } => write!(
                f,
                "the check fails as in {}: {} times in a row in the same way, whatever was changed",
                earlier(attempts),
                attempts.len()
            ),
        }
    }
}

/// `attempt 2 and attempt 1`: those before the last one, newest first.
fn earlier(attempts: &[u32]) -> String {
    let before = attempts.split_last().map_or(&[][..], |(_, before)| before);
    let named: Vec<String> = before
        .iter()
        .rev()
        .map(|n| format!("attempt {n}"))
        .collect();
    listed(&named)
}

/// `attempt 4 matches attempt 2, and attempt 3 matches attempt 1`.
fn round(period: usize, attempts: &[u32]) -> String {
    let (first, second) = attempts.split_at(period.min(attempts.len()));
    let pairs = second.iter().zip(first).rev();
    let said: Vec<String> = pairs
        .map(|(later, earlier)| format!("attempt {later} matches attempt {earlier}"))
        .collect();
    listed(&said)
}

fn listed(items: &[String]) -> String {
    match items {
        [] => "no other".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests;
