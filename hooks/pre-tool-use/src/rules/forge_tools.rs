//! Tools of MCP servers that merge, push, or delete branches and repositories: the push rules for
//! them.

use crate::call::Call;
use crate::context::Context;
use crate::json::Json;
use crate::walk::{Exec, State, View, World};
use crate::words::Words;

use super::protected::protected;

/// What a tool of this name does to a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Merges,
    DeletesRepository,
    Writes,
    Deletes,
}

fn deed(name: &str) -> Option<Deed> {
    let has = |words: Words| words.iter().all(|word| name.contains(word));
    let asks = ["get", "list", "read", "search", "check", "status"];
    let first = name.split('_').next().unwrap_or_default();
    if asks.contains(&first) {
        return None;
    }
    if has(Words("merge"))
        && (has(Words("pull"))
            || has(Words("request"))
            || has(Words("auto"))
            || has(Words("branch")))
    {
        return (first != "create" && first != "update").then_some(Deed::Merges);
    }
    if has(Words("delete repo")) || has(Words("delete project")) {
        return Some(Deed::DeletesRepository);
    }
    if has(Words("delete branch")) || has(Words("delete ref")) {
        return Some(Deed::Deletes);
    }
    if has(Words("complete pull")) || has(Words("accept merge")) {
        return Some(Deed::Merges);
    }
    let writes = matches!(
        name,
        "push_files"
            | "create_or_update_file"
            | "update_ref"
            | "create_commit"
            | "git_push"
            | "push"
            | "commit_files"
            | "create_commit_on_branch"
            | "update_branch_protection"
    );
    writes.then_some(Deed::Writes)
}

/// What the tool would do, when it must not.
pub(crate) fn check(call: &Call, ctx: &Context) -> Option<String> {
    let name = call.short_name();
    let name = name.rsplit('.').next().unwrap_or_default();
    let remote = call.tool.contains("__") || call.tool.contains('.');
    let forge_file = name == "delete_file" && call.input.get("branch").is_some();
    let status = call.input.text_at("status").unwrap_or_default();
    let completes = Words("completed merged").has(&status.to_ascii_lowercase());
    if completes && (name.contains("pull_request") || name.contains("merge_request")) {
        return Some(format!("{name} merges into the base branch"));
    }
    let deed = match deed(name) {
        found if !remote && found != Some(Deed::Merges) => return None,
        _ if forge_file => Deed::Writes,
        found => found?,
    };
    let keys = ["branch", "ref", "refspec", "target_branch", "branch_name"];
    let branch = keys.into_iter().find_map(|key| call.input.text_at(key));
    let told = |key: &str| matches!(call.input.get(key), Some(Json::Plain(word)) if word == "true");
    let guarded = |branch: &str| {
        let (world, exec, state) = (World::default(), Exec::default(), State::new(&ctx.worktree));
        let view = View {
            ctx,
            world: &world,
            state: &state,
            exec: &exec,
        };
        let target = branch.rsplit(':').next().unwrap_or_default();
        protected(target, &view).is_some() || branch.starts_with('+')
    };
    match (deed, branch) {
        (Deed::Merges, _) => Some(format!("{name} merges into the base branch")),
        (Deed::DeletesRepository, _) => Some(format!("{name} removes the repository")),
        _ if told("force") || told("force_with_lease") => Some(format!(
            "{name} would overwrite history on the remote (force); Carson pushes the firing's branch itself"
        )),
        (_, Some(branch)) if guarded(branch) => {
            Some(format!("{name} would change the protected branch {branch}"))
        }
        (Deed::Writes, None) if !name.ends_with("push") => {
            Some(format!("{name} commits to the default branch"))
        }
        _ => None,
    }
}
