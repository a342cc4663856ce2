//! How a run ended.

use std::fmt;

use serde::Serialize;

use crate::bounds::Spent;
use crate::message::Usage;
use crate::model::EndpointError;

/// Why a run ended.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The check passes.
    Verified,
    /// There is no check, and the model called no tool any more.
    Answered,
    /// All answers that it may have.
    Turns,
    /// All calls that it may make.
    ToolCalls,
    /// All steps that it may take.
    Iterations,
    /// All its time.
    WallClock,
    /// The same call with the same result again and again.
    Loop,
    /// The endpoint's answer has no choices.
    NoChoices,
    /// The endpoint gave no answer.
    Endpoint(EndpointError),
    /// Somebody asked it to end.
    Interrupted,
}

/// What is known of the check at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verified {
    /// There is none.
    NoCheck,
    /// It ended with 0 after the last thing that was done.
    Passed,
    /// It did not.
    Failed,
    /// Something was done since it ran, or it never did, and there was no time left.
    Unknown,
}

/// A run's end.
#[derive(Clone, Debug)]
pub struct End {
    /// Why.
    pub stop: Stop,
    /// What is known of the check.
    pub verified: Verified,
    /// What the run says: the model's last words, or the fallback answer.
    pub text: String,
    /// What it was.
    pub spent: Spent,
    /// What the endpoint counted.
    pub usage: Usage,
}

/// Its kind, as the program's exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// 0.
    Done,
    /// 3: there is a check, and it does not pass.
    Exhausted,
    /// 4: there is no check, and a bound was met.
    Bound,
    /// 5.
    Endpoint,
    /// 130.
    Interrupted,
}

impl Outcome {
    /// The program's exit code.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Exhausted => 3,
            Self::Bound => 4,
            Self::Endpoint => 5,
            Self::Interrupted => 130,
        }
    }
}

impl Stop {
    /// Its name in events.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Answered => "answered",
            Self::Turns => "max-turns",
            Self::ToolCalls => "max-tool-calls",
            Self::Iterations => "max-iterations",
            Self::WallClock => "wall-clock",
            Self::Loop => "loop",
            Self::NoChoices => "no-choices",
            Self::Endpoint(_) => "endpoint",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Verified => "the check passes",
            Self::Answered => "the model answered",
            Self::Turns => "all its turns are used",
            Self::ToolCalls => "all its tool calls are used",
            Self::Iterations => "all its iterations are used",
            Self::WallClock => "its time is over",
            Self::Loop => "the same call had the same result three times in a row",
            Self::NoChoices => "the endpoint's answer had no choices",
            Self::Endpoint(error) => return error.fmt(f),
            Self::Interrupted => "it was interrupted",
        })
    }
}

impl End {
    /// Of a run that had no time to begin.
    #[must_use]
    pub fn before_it_began(stop: Stop, is_checked: bool) -> Self {
        Self {
            stop,
            verified: match is_checked {
                true => Verified::Unknown,
                false => Verified::NoCheck,
            },
            text: String::new(),
            spent: Spent::default(),
            usage: Usage::default(),
        }
    }

    /// Its kind.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match (&self.stop, self.verified) {
            (_, Verified::Passed) | (Stop::Answered, Verified::NoCheck) => Outcome::Done,
            (Stop::Endpoint(_), _) => Outcome::Endpoint,
            (Stop::Interrupted, _) => Outcome::Interrupted,
            (_, Verified::NoCheck) => Outcome::Bound,
            (_, Verified::Failed | Verified::Unknown) => Outcome::Exhausted,
        }
    }

    /// The run's last line.
    #[must_use]
    pub fn line(&self) -> String {
        let after = format!("after {} iteration(s)", self.spent.iterations);
        let why = &self.stop;
        match (self.outcome(), self.verified) {
            (Outcome::Done, Verified::NoCheck) => format!("→ done {after}: nothing to verify"),
            (Outcome::Done, _) => format!("→ done {after}: verify passed"),
            (Outcome::Exhausted, Verified::Unknown) => {
                format!("→ exhausted {after}: no time left to verify")
            }
            (Outcome::Exhausted, _) => format!("→ exhausted {after}: verify still failing"),
            (Outcome::Bound, _) => format!("→ stopped {after}: {why}"),
            (Outcome::Endpoint, _) => format!("→ endpoint failed {after}: {why}"),
            (Outcome::Interrupted, _) => format!("→ interrupted {after}"),
        }
    }
}
