//! How much a run may be, and what it was so far.

use std::time::Duration;

use serde::Serialize;

/// What ends a run whatever the model does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Answers of the model.
    pub max_turns: u32,
    /// Calls of tools; the one above is not made.
    pub max_tool_calls: u32,
    /// Steps: an answer and what came of it.
    pub max_iterations: u32,
    /// Time of everything together.
    #[serde(rename = "wall_clock_seconds", serialize_with = "seconds")]
    pub wall_clock: Duration,
    /// What the model is given to read, at 4 characters a token.
    pub context_tokens: usize,
}

fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.as_secs())
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_turns: 50,
            max_tool_calls: 200,
            max_iterations: 50,
            wall_clock: Duration::from_secs(30 * 60),
            context_tokens: 32_768,
        }
    }
}

/// Bounds by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// A small model on this machine: 8 iterations, a context of 4,096 tokens.
    Local,
    /// A short chain of thought and action: 6 turns, 4 tool calls.
    React,
}

impl Preset {
    /// Its bounds.
    #[must_use]
    pub fn bounds(self) -> Bounds {
        match self {
            Self::Local => Bounds {
                max_iterations: 8,
                context_tokens: 4_096,
                ..Bounds::default()
            },
            Self::React => Bounds {
                max_turns: 6,
                max_tool_calls: 4,
                ..Bounds::default()
            },
        }
    }
}

/// What a run was so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Answers that were asked for.
    pub turns: u32,
    /// Calls that were made.
    pub tool_calls: u32,
    /// Steps that were begun.
    pub iterations: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_those_of_the_seeds() {
        let local = Preset::Local.bounds();
        assert_eq!((local.max_iterations, local.context_tokens), (8, 4096));
        let react = Preset::React.bounds();
        assert_eq!((react.max_turns, react.max_tool_calls), (6, 4));
    }
}
