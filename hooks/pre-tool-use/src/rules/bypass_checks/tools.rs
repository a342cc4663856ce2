//! Tools other than a shell that switch checks off: what edits, moves or deletes a hook, and what
//! commits without them. They agree with the commands that do the same.

use crate::call::Call;
use crate::context::Context;
use crate::json::Json;
use crate::path;
use crate::words::Words;

use super::hooks::{checks_nothing, is_hook, passes};

/// Members that hold a file.
const PATHS: Words =
    Words("path file_path filename file source target_file notebook_path TargetFile");

/// Members that hold the whole new text of a file, and those that hold a part of it.
const WHOLE: Words = Words("content contents file_text");
const PART: Words = Words("new_string new_str insert_text");

/// Members that leave the hooks out when they are true.
const SKIPS: Words = Words("no_verify noVerify skip_hooks skipHooks");

/// What a tool would do, when it must not.
pub fn check_tool(call: &Call, ctx: &Context) -> Option<String> {
    let told = |key: &str| matches!(call.input.get(key), Some(Json::Plain(word)) if word == "true");
    if let Some(key) = SKIPS.iter().find(|key| told(key)) {
        return Some(format!("{} with {key} skips the hooks", call.tool));
    }
    let name = call.short_name();
    let git = Words("commit push merge rebase").any_in(&name);
    let option = |(_, text): &(&str, &str)| Words("--no-verify --no-gpg-sign").has(text);
    if git && call.tool.contains("__") && call.plain_strings().iter().any(option) {
        return Some(format!("{} would skip the hooks", call.tool));
    }
    let cwd = call.directory();
    let hook = |file: &str| {
        let full = path::absolute(file.trim(), &cwd);
        full.is_some_and(|full| is_hook(&full, ctx))
    };
    let off = |file: &str| Some(format!("{} would switch off the hook {file}", call.tool));
    if let Some(patch) = call.patch() {
        return patched(patch, &hook).and_then(off);
    }
    let file = PATHS.iter().find_map(|key| call.input.text_at(key))?;
    if !hook(file) {
        return None;
    }
    let removes = Words("delete remove unlink move rename");
    let emptied = |key: &str| call.input.text_at(key).is_some_and(checks_nothing);
    let edits = call.input.get("edits").is_some_and(passes_somewhere);
    let silenced = removes.any_in(&name)
        || WHOLE.iter().any(emptied)
        || edits
        || passes_somewhere(&call.input);
    silenced.then(|| off(file)).flatten()
}

/// Whether an edit puts a line there that lets everything pass.
fn passes_somewhere(edit: &Json) -> bool {
    if let Json::List(edits) = edit {
        return edits.iter().any(passes_somewhere);
    }
    let mut parts = PART.iter().filter_map(|key| edit.text_at(key));
    parts.any(|text| text.lines().any(passes))
}

/// The hook that a patch deletes or lets pass.
fn patched<'p>(patch: &'p str, hook: &dyn Fn(&str) -> bool) -> Option<&'p str> {
    let mut at = None;
    for line in patch.lines() {
        if let Some(file) = line
            .strip_prefix("*** Delete File: ")
            .filter(|file| hook(file))
        {
            return Some(file);
        }
        if line.starts_with("*** ") {
            at = line
                .strip_prefix("*** Update File: ")
                .filter(|file| hook(file));
        } else if at.is_some() && line.strip_prefix('+').is_some_and(passes) {
            return at;
        }
    }
    None
}
