//! `carson hook`

use std::process::ExitCode;

use carson_hook::{Context, Decision, explain, rules};
use serde_json::json;

use crate::args::HookAction;
use crate::error::CommandError;
use crate::print;

/// Answers one call on standard input and ends the process, as `carson-hook` does.
pub fn answer() -> ExitCode {
    carson_hook::run_stdin()
}

pub fn run(action: &HookAction, as_json: bool) -> Result<u8, CommandError> {
    match action {
        HookAction::Explain { command, worktree } => {
            let here = match worktree {
                Some(worktree) => std::path::absolute(worktree)?,
                None => std::env::current_dir()?,
            };
            let explanation = explain(command, &Context::new(&here.to_string_lossy()));
            let block = match &explanation.decision {
                Decision::Block(block) => Some(block),
                Decision::Allow => None,
            };
            if as_json {
                print::json(&json!({
                    "allowed": block.is_none(),
                    "rule": block.map(|block| block.rule.id),
                    "reason": block.map(ToString::to_string),
                    "commands": explanation.trail,
                }));
            } else {
                print::line(explanation.to_string().trim_end());
            }
            // As a filter in a script: 2 is "blocked", as the hook itself exits.
            Ok(if block.is_some() { 2 } else { 0 })
        }
        HookAction::List if as_json => {
            let rules = rules().iter().map(|rule| {
                json!({"id": rule.id, "reason": rule.reason, "instead": rule.instead,
                       "unresolved": rule.default})
            });
            print::json(&rules.collect::<Vec<_>>());
            Ok(0)
        }
        HookAction::List => {
            for rule in rules() {
                print::line(&format!(
                    "{}\n  {}\n  instead: {}",
                    rule.id, rule.reason, rule.instead
                ));
                print::line(&format!("  what cannot be resolved: {}", rule.default));
            }
            Ok(0)
        }
        HookAction::Run => Err(CommandError::usage(
            "the hook answers before anything else runs",
        )),
    }
}
