//! `list`: what is in a directory.

use ignore::WalkBuilder;
use serde::Deserialize;
use serde_json::json;

use super::tool::{Done, Tool, pass};
use crate::gate::Gate;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "list",
    description: "Lists a directory, without what git ignores.",
    arguments: &[
        (
            "path",
            "string",
            "the directory; the working directory without it",
            false,
        ),
        ("depth", "integer", "how deep, 1 to 5", false),
    ],
    effect: Effect::Reads,
};

/// Most entries that are looked at.
const MOST: usize = 2_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: Option<String>,
    depth: Option<usize>,
}

pub(super) fn call(place: &Place, gate: &Gate, args: Args, most: usize) -> Done {
    let named = args.path.as_deref().unwrap_or(".");
    let path = place.existing(named).map_err(Observation::error)?;
    pass(gate, "LS", &json!({ "path": path }))?;
    if !path.is_dir() {
        return Err(Observation::error(format!("{named}: is no directory")));
    }
    let depth = args.depth.unwrap_or(1).clamp(1, 5);
    let mut names: Vec<String> = Vec::new();
    let mut more = false;
    for entry in walk(&path).max_depth(Some(depth)).build().skip(1) {
        if names.len() >= MOST {
            more = true;
            break;
        }
        let Ok(entry) = entry else { continue };
        let mut name = place.name_of(entry.path());
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort();
    if more {
        names.insert(
            0,
            format!("[of more than {MOST}, these; name a directory below, or less depth]"),
        );
    }
    Ok(Observation::well(as_far_as_there_is_room(&names, most)))
}

/// What git does not ignore, by the rules of the directory alone and in the order of names; links are not followed.
pub(super) fn walk(path: &std::path::Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(path);
    walk.hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    walk
}

/// Lines, and how many there is no room for.
pub(super) fn as_far_as_there_is_room(lines: &[String], most: usize) -> String {
    const NOTE: usize = 40;
    if lines.is_empty() {
        return "[nothing]".to_owned();
    }
    let mut room = most.saturating_sub(NOTE);
    let mut shown = Vec::new();
    for line in lines {
        let long = line.chars().count() + 1;
        if long > room {
            break;
        }
        room -= long;
        shown.push(line.as_str());
    }
    let left_out = lines.len() - shown.len();
    let mut text = shown.join("\n");
    if left_out > 0 {
        text.push_str(&format!("\n[{left_out} more are left out]"));
    }
    text
}
