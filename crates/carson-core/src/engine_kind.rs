//! Which agent CLI an account uses.

use std::fmt;

/// The CLIs that Carson knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Claude Code.
    Claude,
    /// Any program; the prompt on standard input.
    Command,
    /// Carson's own player of scripts.
    Rehearsal,
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Claude => "claude",
            Self::Command => "command",
            Self::Rehearsal => "rehearsal",
        })
    }
}
