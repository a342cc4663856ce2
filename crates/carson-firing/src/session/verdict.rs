//! What follows from how a session ended. Pure: it looks at nothing but what it is given.

use std::time::Duration;

use carson_core::Stage;
use carson_core::limits::MAX_RETRIES;
use carson_core::settle::Halt;
use carson_engine::{Ended, Limit};
use carson_proc::StopReason;
use chrono::{DateTime, Utc};

/// The first wait; each further one is four times as long.
const FIRST: Duration = Duration::from_secs(2);

/// What must be left of the wall clock after a wait for another session to be worth it.
const WORTH: Duration = Duration::from_secs(30);

/// What the firing does next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Next {
    /// It has its answer.
    Done,
    /// It asks again, after a pause.
    Again(Pause),
    /// The account met a limit: another account, or the end.
    Limited(Limit),
    /// It ends.
    Stop(Halt),
}

/// A wait before the same session is tried again, and what was in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    pub wait: Duration,
    pub status: Option<u16>,
    pub message: String,
}

/// Where the firing stands.
pub(super) struct Standing {
    /// Whether the session left everything as it was.
    pub harmless: bool,
    /// When the provider's own answers said that it may be asked again.
    pub not_before: Option<DateTime<Utc>>,
    /// Sessions that were tried again before.
    pub retries: u32,
    /// The random end of the firing's id spreads waits.
    pub id: [u8; 16],
    /// What is left of the wall clock.
    pub remaining: Duration,
    pub now: DateTime<Utc>,
    pub max_output_mb: u64,
}

/// The table.
pub(super) fn verdict(ended: &Ended, stage: Stage, standing: &Standing) -> Next {
    let http = |status: Option<u16>| status.map_or(String::new(), |status| format!("{status} "));
    Next::Stop(match ended {
        Ended::Completed | Ended::MaxTurns | Ended::MaxToolCalls | Ended::Circled(_) => {
            return Next::Done;
        }
        Ended::Limited(limit) => return Next::Limited(limit.clone()),
        Ended::MaxCost => Halt::OutOfMoney,
        Ended::TimedOut(reason) => {
            let why = match reason {
                StopReason::WallClock => "the firing's time was used up (limits.wall_clock)",
                StopReason::Silence => "it printed nothing for too long (limits.silence)",
                StopReason::OutputCap | StopReason::Cancelled | StopReason::Asked => "by Carson",
            };
            Halt::TimedOut(format!("the {stage} session was stopped: {why}"))
        }
        Ended::OutputCap => Halt::EngineFailed(format!(
            "the {stage} session printed more than {} MB",
            standing.max_output_mb
        )),
        Ended::Cancelled => Halt::Cancelled,
        Ended::Unavailable {
            status,
            not_before,
            message,
            outage: _,
        } => match wait(standing, *not_before) {
            Some(wait) => {
                return Next::Again(Pause {
                    wait,
                    status: *status,
                    message: message.clone(),
                });
            }
            None => Halt::Unavailable(format!("{stage}: {}{message}", http(*status))),
        },
        Ended::Refused { message } => {
            Halt::EngineFailed(format!("{stage}: the model refused the task: {message}"))
        }
        Ended::ApiError { status, message } => {
            Halt::EngineFailed(format!("{stage}: {}{message}", http(*status)))
        }
        Ended::Crashed { exit, message } => {
            let said = match message.trim() {
                "" => "it printed nothing",
                said => said,
            };
            Halt::EngineFailed(format!("{stage}: the CLI ended with {exit}: {said}"))
        }
    })
}

/// How long to wait before the next try, as long as one is allowed, safe and worth it.
fn wait(standing: &Standing, not_before: Option<DateTime<Utc>>) -> Option<Duration> {
    if standing.retries >= MAX_RETRIES || !standing.harmless {
        return None;
    }
    let asked = not_before.max(standing.not_before);
    let asked = asked.and_then(|at| (at - standing.now).to_std().ok());
    let wait = pause_before(standing.retries, &standing.id).max(asked.unwrap_or_default());
    (wait + WORTH <= standing.remaining).then_some(wait)
}

/// The wait before retry `done`: half to one and a half of its length, by the firing's own id, so
/// that firings which failed together do not come back together.
fn pause_before(done: u32, id: &[u8; 16]) -> Duration {
    let place = usize::try_from(done).unwrap_or(0) % 4;
    // The last bytes of an id are random.
    let share = 0.5 + f64::from(id[15 - place]) / 255.0;
    (FIRST * 4_u32.pow(done.min(MAX_RETRIES))).mul_f64(share)
}

#[cfg(test)]
mod tests {
    use carson_core::repetition::Circle;
    use carson_engine::LimitKind;
    use carson_proc::{Exit, StopReason};
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;

    fn standing() -> Standing {
        Standing {
            harmless: true,
            not_before: None,
            retries: 0,
            id: [0; 16],
            remaining: Duration::from_secs(600),
            now: DateTime::from_timestamp(1_800_000_000, 0).unwrap(),
            max_output_mb: 64,
        }
    }

    fn away() -> Ended {
        Ended::Unavailable {
            status: Some(529),
            not_before: None,
            message: "overloaded".into(),
            outage: true,
        }
    }

    fn stops(ended: &Ended) -> Halt {
        match verdict(ended, Stage::Execute, &standing()) {
            Next::Stop(halt) => halt,
            next => panic!("{next:?}"),
        }
    }

    #[test]
    fn an_answer_is_one_at_a_bound_too() {
        let circle = Ended::Circled(Circle::Idle { calls: 200 });
        for ended in [
            Ended::Completed,
            Ended::MaxTurns,
            Ended::MaxToolCalls,
            circle,
        ] {
            assert_eq!(verdict(&ended, Stage::Plan, &standing()), Next::Done);
        }
    }

    #[test]
    fn every_other_end_says_what_it_was() {
        assert_eq!(stops(&Ended::MaxCost), Halt::OutOfMoney);
        assert_eq!(stops(&Ended::Cancelled), Halt::Cancelled);
        let silent = stops(&Ended::TimedOut(StopReason::Silence));
        assert!(matches!(silent, Halt::TimedOut(why) if why.contains("execute")));
        let late = stops(&Ended::TimedOut(StopReason::WallClock));
        assert!(matches!(late, Halt::TimedOut(why) if why.contains("limits.wall_clock")));
        let much = stops(&Ended::OutputCap);
        assert!(matches!(much, Halt::EngineFailed(why) if why.contains("64 MB")));
        let crashed = Ended::Crashed {
            exit: Exit::Code(3),
            message: "no".into(),
        };
        assert!(matches!(stops(&crashed), Halt::EngineFailed(why) if why.contains("3")));
        let refused = Ended::Refused {
            message: "no".into(),
        };
        assert!(matches!(stops(&refused), Halt::EngineFailed(why) if why.contains("refused")));
        let limit = Limit {
            kind: LimitKind::RateLimit,
            resets_at: None,
            window: None,
            message: "slow down".into(),
            remedy: None,
        };
        let next = verdict(&Ended::Limited(limit.clone()), Stage::Plan, &standing());
        assert_eq!(next, Next::Limited(limit));
    }

    #[test]
    fn a_provider_that_was_away_is_asked_again_while_that_is_safe_and_worth_it() {
        let next = |standing: &Standing| verdict(&away(), Stage::Execute, standing);
        assert!(matches!(next(&standing()), Next::Again(_)));
        for cannot in [
            Standing {
                harmless: false,
                ..standing()
            },
            Standing {
                retries: MAX_RETRIES,
                ..standing()
            },
            Standing {
                remaining: WORTH,
                ..standing()
            },
        ] {
            let halt = Halt::Unavailable("execute: 529 overloaded".into());
            assert_eq!(next(&cannot), Next::Stop(halt));
        }
    }

    #[test]
    fn it_is_not_asked_before_it_said() {
        let at = |seconds| Ended::Unavailable {
            status: None,
            not_before: Some(standing().now + TimeDelta::seconds(seconds)),
            message: String::new(),
            outage: false,
        };
        let Next::Again(pause) = verdict(&at(60), Stage::Plan, &standing()) else {
            panic!("it is not tried again");
        };
        assert_eq!(pause.wait, Duration::from_secs(60));
        // The CLI said less than the provider did.
        let seen = Standing {
            not_before: Some(standing().now + TimeDelta::seconds(90)),
            ..standing()
        };
        let Next::Again(pause) = verdict(&at(60), Stage::Plan, &seen) else {
            panic!("it is not tried again");
        };
        assert_eq!(pause.wait, Duration::from_secs(90));
        let late = verdict(&at(6_000), Stage::Plan, &standing());
        assert!(matches!(late, Next::Stop(Halt::Unavailable(_))));
    }

    proptest! {
        #[test]
        fn waits_grow_within_their_bounds(id in any::<[u8; 16]>(), done in 0..10_u32) {
            let mean = FIRST * 4_u32.pow(done.min(MAX_RETRIES));
            let wait = pause_before(done, &id);
            prop_assert!(wait >= mean.mul_f64(0.49) && wait <= mean.mul_f64(1.51));
            prop_assert!(wait < Duration::from_secs(200));
        }
    }
}
