//! `carson hook`

use std::path::Path;
use std::process::ExitCode;

use carson_hook::{Call, Context, Decision, Json, Sight, explain_call, rules};
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
        HookAction::Explain {
            command,
            tool,
            cwd,
            worktree,
        } => {
            let tree = absolute(worktree.as_deref())?;
            let cwd = match cwd {
                Some(cwd) => absolute(Some(cwd))?,
                None => tree.clone(),
            };
            let explanation = explain_call(&call(command, tool, &cwd), &context(&tree));
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

/// A directory as the hook wants it: absolute, this one without another.
fn absolute(dir: Option<&Path>) -> Result<String, CommandError> {
    let dir = std::path::absolute(dir.unwrap_or(Path::new(".")))?;
    Ok(dir.to_string_lossy().into_owned())
}

/// What the hook would know of a firing in this worktree that Carson says nothing else about.
fn context(worktree: &str) -> Context {
    let mut context = Context::new(worktree);
    context.home = std::env::var("HOME").unwrap_or_default();
    context.sight = Sight::Disk;
    context
}

/// The call: a shell tool takes the text as its command, another one as its input or as a path.
fn call(text: &str, tool: &str, cwd: &str) -> Call {
    let mut call = Call::shell(text, cwd);
    if tool != "Bash" {
        let input = Json::parse(text).ok();
        let path = || Json::Map(vec![("file_path".to_owned(), Json::Text(text.to_owned()))]);
        let shell = Call {
            tool: tool.to_owned(),
            input: Json::Map(Vec::new()),
            cwd: String::new(),
        };
        if shell.kind() != carson_hook::ToolKind::Shell {
            call.input = input
                .filter(|json| matches!(json, Json::Map(_)))
                .unwrap_or_else(path);
        }
        tool.clone_into(&mut call.tool);
    }
    call
}
