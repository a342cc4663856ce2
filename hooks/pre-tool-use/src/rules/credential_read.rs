//! `credential-read`: nobody reads keys, tokens and passwords.
//!
//! Refused: a command or a tool that opens a credential file ([`super::secrets`]) in any spelling, or a
//! private key by its usual name (not where an option gives a command its key: `--tls-key F`), a
//! command whose purpose is to print a credential, a variable of that name that is printed, code that asks
//! a library for one, a request to a cloud's metadata address, in a container too. Allowed: naming such a
//! file where only its name matters (`ls`, `test -f`, `chmod`, a `Glob`, as the target of `cp`, as a
//! pattern of `grep`), using such a variable (`curl -H "… $TOKEN"`, `[ -n "$TOKEN" ]`), plain `env`, and
//! the same words as data.
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

use super::secrets::{is_private_key, is_secret};
use candidates::candidates;

mod candidates;
mod commands;
mod editors;
mod exposed;
mod hosts;
mod printers;

pub use exposed::{asks_for_credential, is_secret_variable};
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
    if view.exec.name() == "print-variable" {
        return Some("the value of a credential's variable would be printed".to_owned());
    }
    if view.exec.name() == "ask-for-credential" {
        return Some("the code asks a library for a credential".to_owned());
    }
    if let Some(what) = printers::check(view) {
        return Some(what);
    }
    let named = candidates(view);
    let used = commands::used(view.exec);
    let found = named.iter().find(|text| {
        let shown = !used.contains(&text.as_str());
        names(text, view, is_secret) || (shown && names(text, view, is_private_key))
    })?;
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
    if shows_secret(call) {
        return Some(format!("{} would print a credential", call.tool));
    }
    let cwd = call.directory();
    let found = tool_paths(call).into_iter().find(|text| {
        let text = marks::live_globs(text.strip_prefix("file://").unwrap_or(text));
        let home = text
            .strip_prefix("~/")
            .map(|rest| format!("{}/{rest}", ctx.home));
        let text = home.unwrap_or(text);
        let full = path::absolute(&text, &cwd);
        let path = full.as_deref().unwrap_or(&text);
        is_secret(path, ctx)
            || is_private_key(path, ctx)
            || full.is_some_and(|full| links_to(&full, ctx, is_secret))
    })?;
    Some(format!(
        "{} would read {}",
        call.tool,
        marks::show_short(&found, 120)
    ))
}

/// A tool for a cluster that is asked for a secret with what is in it.
fn shows_secret(call: &Call) -> bool {
    let kind = ["resourceType", "kind", "resource", "resource_type", "type"]
        .into_iter()
        .find_map(|key| call.input.text_at(key));
    let secret =
        kind.is_some_and(|kind| matches!(kind.to_ascii_lowercase().as_str(), "secret" | "secrets"));
    let output = call
        .input
        .text_at("output")
        .or_else(|| call.input.text_at("outputFormat"));
    let name = call.tool.to_ascii_lowercase();
    secret
        && Words("kube k8s openshift").any_in(&name)
        && output.is_none_or(|output| !matches!(output, "name" | "wide"))
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
    Words("ls glob list_directory list_dir find_file search_files get_file_info directory_tree");

/// Tools whose arguments become a prompt of the CLI, which reads `@path` in one by itself.
const PROMPTS: Words = Words("skill slashcommand");

/// Whether it is one of these.
pub fn is_prompt(call: &Call) -> bool {
    !call.is_a_server_s() && PROMPTS.has(&call.short_name())
}

/// The files that such a prompt names. All else in it is data.
fn mentioned(call: &Call) -> Vec<String> {
    let strings = call.plain_strings().into_iter();
    let words = strings.flat_map(|(_, text)| text.split_whitespace());
    let paths = words.filter_map(|word| word.split_once('@').map(|(_, path)| path));
    paths
        .map(|path| marks::clean(path.trim_matches('"')))
        .collect()
}

/// The paths a tool's input names. Patterns are data: `Grep` looks for one, `Glob` tells only names.
fn tool_paths(call: &Call) -> Vec<String> {
    let tool = call.short_name();
    if is_prompt(call) {
        return mentioned(call);
    }
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
    let texts = named.map(|(_, text)| text);
    let positive = texts.filter(|text| !text.starts_with('!'));
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

/// Whether a word names what `kind` tells of.
fn names(text: &str, view: &View<'_>, kind: fn(&str, &Context) -> bool) -> bool {
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
            kind(&path, view.ctx)
                || behind.is_some_and(|path| kind(&path, view.ctx))
                || links_to(&path, view.ctx, kind)
        }
        None => kind(text, view.ctx),
    })
}

/// Whether the path is, on the disk, a link to what `kind` tells of.
fn links_to(path: &str, ctx: &Context, kind: fn(&str, &Context) -> bool) -> bool {
    if ctx.sight == Sight::CallOnly || !marks::exact(path) {
        return false;
    }
    let real = path::canonical(path);
    real != path && kind(&real, ctx)
}

#[cfg(test)]
pub(super) mod cases;
