//! From a call to a decision.

use crate::call::{Call, ToolKind};
use crate::context::Context;
use crate::decision::{Block, Decision};
use crate::marks;
use crate::rules::{self, credential_read, delete_outside};
use crate::walk::Walker;

/// Decides about one call. With [`Sight::CallOnly`](crate::Sight::CallOnly) the answer depends on
/// the arguments only.
pub fn decide(call: &Call, ctx: &Context) -> Decision {
    judge(call, ctx, false).0
}

/// As [`decide`], with the trail of what was looked at.
pub(crate) fn judge(call: &Call, ctx: &Context, with_trail: bool) -> (Decision, Vec<String>) {
    let here = located(call, ctx);
    let (block, trail) = match call.kind() {
        ToolKind::Shell => judge_shell(call, &here, with_trail),
        ToolKind::Patch => (judge_patch(call, &here), Vec::new()),
        ToolKind::Reads | ToolKind::Fetch => {
            let what = credential_read::check_tool(call, &here);
            (
                what.map(|what| Block::new(rules::rule(credential_read::RULE.id), &what)),
                Vec::new(),
            )
        }
        ToolKind::Writes | ToolKind::Other => (None, Vec::new()),
    };
    (block.map_or(Decision::Allow, Decision::Block), trail)
}

/// The context with a worktree: without one from Carson the call's own directory is it.
fn located(call: &Call, ctx: &Context) -> Context {
    let mut here = ctx.clone();
    if here.worktree.is_empty() {
        here.worktree = call.cwd.trim_end_matches('/').to_owned();
    }
    here
}

fn judge_shell(call: &Call, ctx: &Context, with_trail: bool) -> (Option<Block>, Vec<String>) {
    let Some(command) = call.command() else {
        return (None, Vec::new());
    };
    let cwd = marks::clean(&call.directory());
    let cwd = if cwd.is_empty() {
        ctx.worktree.clone()
    } else {
        cwd
    };
    let walker = Walker::new(ctx, command.len());
    let walker = if with_trail {
        walker.with_trail()
    } else {
        walker
    };
    walker.judge(&command, &cwd)
}

/// A patch in Codex's format edits the files it updates, which shows their contents, and deletes
/// others.
fn judge_patch(call: &Call, ctx: &Context) -> Option<Block> {
    let text = ["input", "patch", "command"]
        .into_iter()
        .find_map(|key| call.input.text_at(key))?;
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("*** Update File: ") {
            let read = crate::json::Json::Map(vec![(
                "path".to_owned(),
                crate::json::Json::Text(file.trim().to_owned()),
            )]);
            let read = Call {
                tool: call.tool.clone(),
                input: read,
                cwd: call.cwd.clone(),
            };
            if let Some(what) = credential_read::check_tool(&read, ctx) {
                return Some(Block::new(rules::rule(credential_read::RULE.id), &what));
            }
        } else if let Some(file) = line.strip_prefix("*** Delete File: ") {
            let remove = format!(
                "rm -f -- {}",
                crate::call::quote(&marks::clean(file.trim()))
            );
            let (block, _) = Walker::new(ctx, remove.len()).judge(&remove, &call.cwd);
            if block
                .as_ref()
                .is_some_and(|block| block.rule.id == delete_outside::RULE.id)
            {
                return block;
            }
        }
    }
    None
}
