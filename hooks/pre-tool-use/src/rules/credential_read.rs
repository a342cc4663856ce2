//! `credential-read`: nobody reads keys, tokens and passwords.
//!
//! Refused: a command or a tool that opens a credential file ([`super::secrets`]) in any spelling, a
//! command whose purpose is to print a credential, a request to a cloud's metadata address. Allowed:
//! naming such a file where only its name matters (`ls`, `test -f`, `chmod`, as the target of `cp`, as
//! a pattern of `grep`), plain `env`, and the same words as data.
//!
//! Default: a path of which no part is known is no credential; a command nobody knows reads every
//! file it names.

use crate::call::{Call, ToolKind};
use crate::context::{Context, Sight};
use crate::decision::Rule;
use crate::marks;
use crate::path;
use crate::walk::View;
use crate::words::Words;

use super::secrets::is_secret;
use candidates::candidates;

mod candidates;
mod commands;
mod hosts;
mod printers;

pub use hosts::{is_metadata, is_metadata_host};

/// The rule.
pub const RULE: Rule = Rule {
    id: "credential-read",
    reason: "credentials are never needed inside a firing and must not reach a model or a log",
    instead: "Work without the credential: Carson pushes, opens pull requests and signs in for you; say what is missing and end with [BLOCKED]",
    default: "a path with no known part is no credential; an unknown command reads the files it names",
};

/// Judges one command.
pub fn check(view: &View<'_>) -> Option<String> {
    if let Some(what) = printers::check(view) {
        return Some(what);
    }
    let named = candidates(view);
    let found = named.iter().find(|text| names_secret(text, view))?;
    Some(format!(
        "{} would read {}",
        view.exec.name(),
        marks::show_short(found, 120)
    ))
}

/// Judges a tool that is not a shell.
pub fn check_tool(call: &Call, ctx: &Context) -> Option<String> {
    if addresses(call).iter().any(|url| is_metadata(url)) {
        return Some(format!(
            "{} would ask the cloud's metadata service",
            call.tool
        ));
    }
    let cwd = call.directory();
    let found = tool_paths(call).into_iter().find(|text| {
        let text = marks::live_globs(text.strip_prefix("file://").unwrap_or(text));
        let home = text
            .strip_prefix("~/")
            .map(|rest| format!("{}/{rest}", ctx.home));
        let text = home.unwrap_or(text);
        let full = path::absolute(&text, &cwd);
        is_secret(full.as_deref().unwrap_or(&text), ctx)
            || full.is_some_and(|full| links_to_secret(&full, ctx))
    })?;
    Some(format!(
        "{} would read {}",
        call.tool,
        marks::show_short(&found, 120)
    ))
}

/// The addresses that a tool would fetch: members called so, and those in the prompt of a fetching
/// tool.
fn addresses(call: &Call) -> Vec<&str> {
    let keys = ["url", "urls", "address", "uri", "endpoint"];
    let mut out: Vec<&str> = call
        .plain_strings()
        .into_iter()
        .filter(|(key, text)| keys.contains(key) && text.contains("://"))
        .map(|(_, text)| text)
        .collect();
    if call.kind() == ToolKind::Fetch {
        let prompt = call.input.text_at("prompt").unwrap_or_default();
        out.extend(
            prompt
                .split_whitespace()
                .filter(|word| word.contains("://")),
        );
    }
    out
}

/// Tools that tell only the names of files, as `ls` does.
const NAMES_ONLY: Words =
    Words("ls list_directory list_dir find_file search_files get_file_info directory_tree");

/// The paths a tool's input names. A `Grep` pattern is data, a `Glob` pattern is a path.
fn tool_paths(call: &Call) -> Vec<String> {
    let tool = call.short_name();
    if NAMES_ONLY.has(&tool) || creates(call) {
        return Vec::new();
    }
    let unknown = call.kind() == ToolKind::Unknown;
    let strings = call.plain_strings();
    let named = strings.into_iter().filter(|(key, text)| {
        let path = key.is_empty()
            || ["path", "file", "uri", "include", "glob", "url"]
                .iter()
                .any(|word| key.contains(word));
        let local = !text.contains("://") || text.starts_with("file:");
        local && (path || unknown) && !text.contains('\n')
    });
    let mut texts: Vec<&str> = named.map(|(_, text)| text).collect();
    if tool == "glob" {
        texts.extend(call.input.text_at("pattern"));
    }
    let positive = texts.into_iter().filter(|text| !text.starts_with('!'));
    positive.map(marks::clean).collect()
}

/// An edit tool that makes a new file, or a tool that deletes one, reads nothing.
fn creates(call: &Call) -> bool {
    let verb = call.input.text_at("command");
    let removes = ["delete", "remove"]
        .iter()
        .any(|verb| call.short_name().starts_with(verb));
    verb == Some("create") || removes
}

fn names_secret(text: &str, view: &View<'_>) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    // A sentence that mentions a path is data; a path with blanks starts like a path.
    if text.contains(' ') && !text.starts_with(['/', '~', '.']) {
        return false;
    }
    view.paths(text).into_iter().any(|path| match path {
        Some(path) => {
            let behind = view.world.follow(&path, true);
            is_secret(&path, view.ctx)
                || behind.is_some_and(|path| is_secret(&path, view.ctx))
                || links_to_secret(&path, view.ctx)
        }
        None => is_secret(text, view.ctx),
    })
}

/// Whether the path is, on the disk, a link to a credential.
fn links_to_secret(path: &str, ctx: &Context) -> bool {
    if ctx.sight == Sight::CallOnly || !marks::exact(path) {
        return false;
    }
    let real = path::canonical(path);
    real != path && is_secret(&real, ctx)
}

#[cfg(test)]
pub(super) mod cases;
