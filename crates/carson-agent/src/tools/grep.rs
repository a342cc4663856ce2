//! `grep`: the lines that match a regular expression.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use regex::RegexBuilder;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::list::{as_far_as_there_is_room, walk};
use super::tool::{Done, Tool, pass};
use crate::cut::cut_end;
use crate::gate::Gate;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "grep",
    description: "Finds lines by a regular expression, in files that git does not ignore.",
    arguments: &[
        ("pattern", "string", "the expression", true),
        (
            "path",
            "string",
            "a file or directory; the working directory without it",
            false,
        ),
    ],
    effect: Effect::Reads,
};

/// Most lines that are found.
const FOUND_MOST: usize = 200;
/// Most files that are looked at.
const FILES_MOST: usize = 20_000;
/// Most bytes that are read of one file.
const FILE_MOST: u64 = 1024 * 1024;
/// The longest that is searched.
const LONGEST: Duration = Duration::from_secs(10);
/// Most characters that are shown of a line.
const LINE_MOST: usize = 300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    pattern: String,
    path: Option<String>,
}

pub(super) fn call(place: &Place, gate: &Gate, args: Args, most: usize) -> Done {
    let named = args.path.as_deref().unwrap_or(".");
    let path = place.existing(named).map_err(Observation::error)?;
    pass(
        gate,
        "Grep",
        &json!({ "pattern": args.pattern, "path": path }),
    )?;
    let pattern = RegexBuilder::new(&args.pattern)
        .size_limit(1024 * 1024)
        .build()
        .map_err(|error| Observation::error(format!("the pattern: {error}")))?;
    let ends_at = Instant::now() + LONGEST;
    let mut found = Vec::new();
    for entry in walk(&path).build().take(FILES_MOST) {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            search(place, entry.path(), &pattern, &mut found);
        }
        if found.len() >= FOUND_MOST || Instant::now() >= ends_at {
            found.push("[there may be more; search for less]".to_owned());
            break;
        }
    }
    Ok(Observation::well(as_far_as_there_is_room(&found, most)))
}

/// Adds the lines of a text file that match.
fn search(place: &Place, path: &Path, pattern: &regex::Regex, found: &mut Vec<String>) {
    let mut bytes = Vec::new();
    let file = place.open(path);
    let read = file.and_then(|file| file.take(FILE_MOST).read_to_end(&mut bytes));
    if read.is_err() || bytes.contains(&0) {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    let name = place.name_of(path);
    let matching = text
        .lines()
        .enumerate()
        .filter(|(_, line)| pattern.is_match(line));
    for (n, line) in matching.take(FOUND_MOST.saturating_sub(found.len())) {
        found.push(format!("{name}:{}: {}", n + 1, cut_end(line, LINE_MOST)));
    }
}
