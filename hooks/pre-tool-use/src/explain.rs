//! `carson hook explain`: why a command is allowed or refused, in words.

use std::fmt;

use crate::call::Call;
use crate::context::Context;
use crate::decide::{Effort, judge};
use crate::decision::Decision;

/// What was looked at and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The call, as it was given.
    pub call: String,
    /// Each command that would run, in order, up to the first refused one.
    pub trail: Vec<String>,
    /// The decision.
    pub decision: Decision,
}

/// Explains a command line of a shell tool, run in the worktree.
pub fn explain(command: &str, ctx: &Context) -> Explanation {
    explain_call(&Call::shell(command, &ctx.worktree), ctx)
}

/// Explains any call.
pub fn explain_call(call: &Call, ctx: &Context) -> Explanation {
    let verdict = judge(call, ctx, Effort::WithTrail);
    Explanation {
        call: call.summary(),
        trail: verdict.trail,
        decision: verdict.block.map_or(Decision::Allow, Decision::Block),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "call      {}", self.call.replace('\n', "\n          "))?;
        for (index, step) in self.trail.iter().enumerate() {
            writeln!(
                f,
                "{}{step}",
                if index == 0 {
                    "runs      "
                } else {
                    "          "
                }
            )?;
        }
        match &self.decision {
            Decision::Allow => write!(f, "decision  allowed: no rule applies"),
            Decision::Block(block) => {
                writeln!(f, "decision  blocked by {}", block.rule.id)?;
                writeln!(f, "because   {}", block.what)?;
                writeln!(f, "rule      {}", block.rule.reason)?;
                writeln!(f, "unsure    {}", block.rule.default)?;
                write!(f, "instead   {}", block.rule.instead)
            }
        }
    }
}
