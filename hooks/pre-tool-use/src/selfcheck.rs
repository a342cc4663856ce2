//! The two events preflight feeds the hook before every firing.

use crate::context::Context;
use crate::json::escape;

/// An event the hook must refuse: a forced push to a protected branch.
pub fn known_bad_call(ctx: &Context) -> String {
    event("git push --force origin main", ctx)
}

/// An event the hook must allow.
pub fn known_good_call(ctx: &Context) -> String {
    event("git status --short", ctx)
}

fn event(command: &str, ctx: &Context) -> String {
    format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{}"}},"cwd":"{}"}}"#,
        escape(command),
        escape(&ctx.worktree),
    )
}
