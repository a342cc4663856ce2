//! The bounds of one firing, and the worst case that follows from them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stage::Stage;

/// How often one firing asks a provider again that was overloaded or not reached.
pub const MAX_RETRIES: u32 = 3;

/// Tool calls for each turn of a session, where nobody says how many it may have.
const CALLS_A_TURN: u32 = 10;

/// `[limits]` of a role. Every firing ends because each of these is finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Turns of one execute session; always passed to the CLI explicitly.
    pub max_turns: u32,
    /// Turns of one plan, review, revise or diff-review session.
    pub max_turns_read: u32,
    /// Tool calls of one session; `None` follows from its turns.
    pub max_tool_calls: Option<u32>,
    /// Wall clock of the whole firing.
    pub wall_clock: Duration,
    /// Time without a byte from a session before it counts as stalled.
    pub silence: Duration,
    /// Execute attempts against the promise.
    pub max_attempts: u32,
    /// Rounds of plan review and revision.
    pub max_revisions: u32,
    /// Firings in one day of the role's zone.
    pub max_firings_per_day: u32,
    /// Money of one firing, where the engine reports it.
    pub max_cost_usd: Option<f64>,
    /// Money in one day of the role's zone.
    pub max_cost_usd_per_day: Option<f64>,
    /// Output of one session, in mebibytes.
    pub max_output_mb: u64,
    /// What one firing may push, in mebibytes of files.
    pub max_salvage_mb: u64,
    /// Lines that one finished change may add and take away; of lock files none count.
    pub max_diff_lines: u64,
    /// Processes and threads of one session at once.
    pub max_processes: u32,
    /// The largest file that a session may write, in mebibytes.
    pub max_file_mb: u64,
    /// Memory of one session, in mebibytes, where cgroups can hold it to that.
    pub max_memory_mb: Option<u64>,
    /// Open pull requests of this role on one repository.
    pub max_open_prs: u32,
    /// Consecutive bad outcomes that open the breaker.
    pub fail_streak: u32,
    /// After how long an open breaker lets one firing try; `None` is never.
    pub cooldown: Option<Duration>,
    /// Rejections in a row that do not yet count as bad.
    pub max_rejections: u32,
    /// Firings that may take one piece of work before a person must.
    pub max_work_attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: 60,
            max_turns_read: 20,
            max_tool_calls: None,
            wall_clock: Duration::from_secs(45 * 60),
            silence: Duration::from_secs(15 * 60),
            max_attempts: 3,
            max_revisions: 1,
            max_firings_per_day: 96,
            max_cost_usd: None,
            max_cost_usd_per_day: None,
            cooldown: Some(Duration::from_secs(4 * 3600)),
            max_output_mb: 64,
            max_salvage_mb: 50,
            max_diff_lines: 1500,
            max_processes: 2048,
            max_file_mb: 4096,
            max_memory_mb: None,
            max_open_prs: 3,
            fail_streak: 5,
            max_rejections: 2,
            max_work_attempts: 3,
        }
    }
}

/// What one firing can cost at most, computed from its role file alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WorstCase {
    /// CLI invocations.
    pub sessions: u64,
    /// Turns over all sessions.
    pub turns: u64,
    /// Tool calls over all sessions, of CLIs that tell of them.
    pub tool_calls: u64,
    /// Sessions more, where the provider was not available before they did anything.
    pub retries: u32,
}

/// What the firings of one day can cost at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorstDay {
    /// Firings.
    pub firings: u32,
    /// CLI invocations.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Wall clock, one firing after the other.
    pub wall_clock: Duration,
    /// Money; `None` when no budget bounds it.
    pub cost_usd: Option<f64>,
}

impl Limits {
    /// The tool calls that a session of so many turns may have.
    #[must_use]
    pub fn tool_calls(&self, turns: u32) -> u32 {
        let by_turns = turns.saturating_mul(CALLS_A_TURN);
        self.max_tool_calls.unwrap_or(by_turns)
    }

    /// The worst day: each firing its worst, as often as the daily cap and the `slots` that the cadence
    /// has in a day allow, within what all roles together may spend.
    #[must_use]
    pub fn worst_day(&self, stages: &[Stage], slots: u32, all_roles_usd: Option<f64>) -> WorstDay {
        let one = self.worst_case(stages);
        let firings = self.max_firings_per_day.min(slots);
        let by_firing = self.max_cost_usd.map(|max| max * f64::from(firings));
        // The last firing that the day's budget lets in is itself held to what is left of it.
        let bounds = [self.max_cost_usd_per_day, by_firing, all_roles_usd];
        let cost_usd = bounds.into_iter().flatten().reduce(f64::min);
        // A role runs one firing at a time.
        let wall_clock = self.wall_clock.saturating_mul(firings);
        WorstDay {
            firings,
            sessions: one.sessions.saturating_mul(firings.into()),
            turns: one.turns.saturating_mul(firings.into()),
            wall_clock: wall_clock.min(Duration::from_secs(25 * 60 * 60)),
            cost_usd,
        }
    }

    /// Sessions and turns of the longest firing that `stages` allow: each attempt executes once,
    /// and a diff review that asks for a fix costs one more execute and one more review.
    #[must_use]
    pub fn worst_case(&self, stages: &[Stage]) -> WorstCase {
        let has = |stage| stages.contains(&stage);
        // Sums of a few 32-bit counts fit; their products may not.
        let (mut reading, mut writing) = (0_u64, 0_u64);
        if has(Stage::Plan) {
            reading += 1;
            if has(Stage::Review) {
                // Each revision is a revise session and a fresh review of its plan.
                reading += 1 + 2 * u64::from(self.max_revisions);
            }
        }
        if has(Stage::Execute) {
            writing += u64::from(self.max_attempts.max(1));
            if has(Stage::DiffReview) {
                reading += 2;
                writing += 1;
            }
        }
        let all = |read: u32, write: u32| {
            let reads = reading.saturating_mul(read.into());
            reads.saturating_add(writing.saturating_mul(write.into()))
        };
        let (read, write) = (self.max_turns_read, self.max_turns);
        WorstCase {
            retries: MAX_RETRIES,
            sessions: reading + writing,
            turns: all(read, write),
            tool_calls: all(self.tool_calls(read), self.tool_calls(write)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_case_counts_every_session() {
        let worst = Limits::default().worst_case(&Stage::CHOSEN);
        // plan, review, revise, review, 3 × execute, diff review, fix, diff review.
        assert_eq!(worst.sessions, 10);
        assert_eq!(worst.turns, 6 * 20 + 4 * 60);
        assert_eq!(worst.tool_calls, 6 * 200 + 4 * 600);
        let capped = Limits {
            max_tool_calls: Some(7),
            ..Limits::default()
        };
        assert_eq!(capped.worst_case(&Stage::CHOSEN).tool_calls, 70);
        assert_eq!(Limits::default().worst_case(&[]).sessions, 0);
    }

    #[test]
    fn the_worst_day_is_the_cap_times_the_worst_firing_within_the_budget() {
        let limits = Limits {
            max_firings_per_day: 10,
            max_cost_usd: Some(2.0),
            ..Limits::default()
        };
        let day = limits.worst_day(&Stage::CHOSEN, u32::MAX, None);
        assert_eq!((day.sessions, day.turns), (100, 3_600));
        assert_eq!(day.wall_clock, Duration::from_secs(450 * 60));
        assert_eq!(day.cost_usd, Some(20.0));
        let budget = Limits {
            max_cost_usd_per_day: Some(5.0),
            ..limits
        };
        assert_eq!(
            budget.worst_day(&Stage::CHOSEN, u32::MAX, None).cost_usd,
            Some(5.0)
        );
        let all = budget.worst_day(&Stage::CHOSEN, u32::MAX, Some(4.0));
        assert_eq!(all.cost_usd, Some(4.0));
        let rare = budget.worst_day(&Stage::CHOSEN, 3, None);
        assert_eq!((rare.firings, rare.sessions), (3, 30));
        assert_eq!(
            Limits::default().worst_day(&[], u32::MAX, None).cost_usd,
            None
        );
    }

    #[test]
    fn the_largest_counts_that_a_role_may_name_do_not_overflow() {
        let huge = Limits {
            max_turns: u32::MAX,
            max_turns_read: u32::MAX,
            max_attempts: u32::MAX,
            max_revisions: u32::MAX,
            ..Limits::default()
        };
        assert_eq!(huge.worst_case(&Stage::CHOSEN).turns, u64::MAX);
    }
}
