//! What happens in a run, as it happens.

use serde::Serialize;

use crate::bounds::{Bounds, Spent};
use crate::message::Usage;
use crate::outcome::{Outcome, Verified};
use crate::toolbox::Went;

/// The number of this list; it grows when a reader of the former would be wrong.
pub const PROTOCOL: u32 = 1;

/// One thing that happened. As JSON it is one line of `--json` (docs/AGENT.md).
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The run begins.
    Session {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The program's version.
        version: &'a str,
        /// The run's own name.
        session_id: &'a str,
        /// The model that is asked for.
        model: &'a str,
        /// The names of its tools.
        tools: Vec<&'a str>,
        /// The check.
        until: Option<&'a str>,
        /// Whether tools run behind walls of the program's own.
        walls: bool,
        /// What ends it.
        bounds: &'a Bounds,
    },
    /// What the model said.
    Text {
        /// In which answer.
        turn: u32,
        /// In words.
        text: &'a str,
    },
    /// What the model wants to have called.
    ToolCall {
        /// In which answer.
        turn: u32,
        /// What the endpoint calls it.
        id: &'a str,
        /// The tool.
        tool: &'a str,
        /// Its arguments; text where they are no JSON.
        arguments: serde_json::Value,
    },
    /// What came of it.
    ToolResult {
        /// In which answer.
        turn: u32,
        /// The call's.
        id: &'a str,
        /// Whose.
        tool: &'a str,
        /// How it went.
        went: Went,
        /// Whether it was known already.
        cached: bool,
        /// What the model reads of it.
        output: &'a str,
    },
    /// The tokens of one answer.
    Usage {
        /// Of which answer.
        turn: u32,
        /// What the endpoint counted, or an estimate.
        #[serde(flatten)]
        usage: Usage,
        /// Whether the endpoint did not count.
        estimated: bool,
    },
    /// What the check said.
    Check {
        /// After which step.
        iteration: u32,
        /// Whether it ended with 0.
        passed: bool,
        /// How it ended, in words.
        ended: &'a str,
        /// What it printed, cut.
        output: &'a str,
    },
    /// Something that the model does not hear of: a retry, an answer that was cut.
    Notice {
        /// In words.
        text: &'a str,
    },
    /// The run ends. Nothing comes after it.
    End {
        /// Its kind.
        outcome: Outcome,
        /// The program's exit code.
        exit_code: u8,
        /// Which bound, or what else ended it.
        stop: &'a str,
        /// The same in words.
        why: String,
        /// What is known of the check.
        verified: Verified,
        /// The endpoint's HTTP status, where it refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// How many seconds it asked to wait.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
        /// What the run was.
        #[serde(flatten)]
        spent: Spent,
        /// The tokens of all answers.
        #[serde(flatten)]
        usage: Usage,
        /// The final text.
        text: &'a str,
    },
}

/// Whoever is told what happens.
pub trait Watch {
    /// Is told.
    fn see(&mut self, event: &Event<'_>);
}
