//! From a call to a decision.

use crate::call::{Call, ToolKind, quote};
use crate::context::Context;
use crate::decision::{Block, Decision, Rule};
use crate::json::Json;
use crate::marks;
use crate::rules::{
    self, bypass_checks, credential_read, delete_outside, forge_tools, protected_push,
};
use crate::walk::{Verdict, Walker};

/// Decides about one call. With [`Sight::CallOnly`](crate::Sight::CallOnly) the answer depends on
/// the arguments only.
pub fn decide(call: &Call, ctx: &Context) -> Decision {
    let block = judge(call, ctx, Effort::Plain).block;
    block.map_or(Decision::Allow, Decision::Block)
}

/// How much is asked of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// The decision.
    Plain,
    /// The decision and the trail of what was looked at.
    WithTrail,
    /// The decision of the coarse pass alone, when the time is over.
    Coarse,
}

/// As [`decide`], with what else is known of it.
pub(crate) fn judge(call: &Call, ctx: &Context, effort: Effort) -> Verdict {
    let here = located(call, ctx);
    let told = |rule: &Rule, what: Option<String>| Verdict {
        block: what.map(|what| Block::new(rules::rule(rule.id), &what)),
        trail: Vec::new(),
        coarse: false,
        unjudged: false,
    };
    if let Some(what) = forge_tools::check(call, &here) {
        return told(&protected_push::RULE, Some(what));
    }
    if let Some(what) = bypass_checks::check_tool(call, &here) {
        return told(&bypass_checks::RULE, Some(what));
    }
    let reads = || {
        told(
            &credential_read::RULE,
            credential_read::check_tool(call, &here),
        )
    };
    match call.kind() {
        ToolKind::Shell => {
            let patch = judge_patch(call, &here);
            if patch.block.is_some() {
                return patch;
            }
            let verdict = judge_shell(call, &here, effort);
            if verdict.block.is_none() && call.is_typed() {
                judge_typed(call, &here, effort)
            } else {
                verdict
            }
        }
        ToolKind::Patch => judge_patch(call, &here),
        ToolKind::Reads | ToolKind::Fetch => reads(),
        ToolKind::Unknown => {
            let verdict = reads();
            if verdict.block.is_some() {
                verdict
            } else {
                judge_unknown(call, &here, effort)
            }
        }
        ToolKind::Other if credential_read::is_prompt(call) => reads(),
        ToolKind::Writes | ToolKind::Other => told(&credential_read::RULE, None),
    }
}

/// Text typed into a program that runs already: it may be an interpreter.
fn judge_typed(call: &Call, ctx: &Context, effort: Effort) -> Verdict {
    let code = call.command().unwrap_or_default();
    let whole = Call {
        tool: call.tool.clone(),
        input: Json::Text(format!("python3 -c {}", quote(&code))),
        cwd: call.directory(),
    };
    judge_shell(&whole, ctx, effort)
}

/// A tool nobody knows: code runs, paths of a tool that deletes are deleted, and any other string
/// that is no prose may be a command.
fn judge_unknown(call: &Call, ctx: &Context, effort: Effort) -> Verdict {
    let name = call.short_name();
    let removes = ["delete", "remove", "rmdir", "unlink"]
        .iter()
        .any(|verb| name.split('_').any(|word| word == *verb));
    let mut code: Vec<String> = call.code().into_iter().collect();
    for (key, text) in call.plain_strings() {
        if removes && (key.contains("path") || key.contains("file") || key.contains("dir")) {
            code.push(format!("rm -rf -- {}", quote(text)));
        } else if key != "code" && text.contains(' ') {
            code.push(text.to_owned());
        }
    }
    let whole = Call {
        tool: call.tool.clone(),
        input: Json::Text(code.join("\n")),
        cwd: call.directory(),
    };
    judge_shell(&whole, ctx, effort)
}

/// The context with a worktree: without one from Carson the call's own directory is it.
fn located(call: &Call, ctx: &Context) -> Context {
    let mut here = ctx.clone();
    if here.worktree.is_empty() {
        here.worktree = call.cwd.trim_end_matches('/').to_owned();
    }
    here
}

fn judge_shell(call: &Call, ctx: &Context, effort: Effort) -> Verdict {
    let command = call.command().unwrap_or_default();
    let cwd = marks::clean(&call.directory());
    let cwd = if cwd.is_empty() {
        ctx.worktree.clone()
    } else {
        cwd
    };
    let walker = Walker::new(ctx, command.len());
    match effort {
        Effort::Plain => walker.judge(&command, &cwd),
        Effort::WithTrail => walker.with_trail().judge(&command, &cwd),
        Effort::Coarse => walker.judge_coarsely(&command, &cwd),
    }
}

/// A patch in Codex's format edits the files it updates, which shows their contents, and deletes
/// others.
fn judge_patch(call: &Call, ctx: &Context) -> Verdict {
    Verdict {
        block: call.patch().and_then(|text| patched(text, call, ctx)),
        trail: Vec::new(),
        coarse: false,
        unjudged: false,
    }
}

fn patched(text: &str, call: &Call, ctx: &Context) -> Option<Block> {
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("*** Update File: ") {
            let path = ("path".to_owned(), Json::Text(file.trim().to_owned()));
            let read = Call {
                tool: call.tool.clone(),
                input: Json::Map(vec![path]),
                cwd: call.cwd.clone(),
            };
            if let Some(what) = credential_read::check_tool(&read, ctx) {
                return Some(Block::new(rules::rule(credential_read::RULE.id), &what));
            }
        } else if let Some(file) = line.strip_prefix("*** Delete File: ") {
            let file = quote(&marks::clean(file.trim()));
            let remove = format!("rm -f -- {file}");
            let block = Walker::new(ctx, remove.len())
                .judge(&remove, &call.cwd)
                .block;
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
