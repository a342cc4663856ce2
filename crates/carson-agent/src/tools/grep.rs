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
    let mut search = Search {
        place,
        gate,
        pattern,
        found: Vec::new(),
        notes: Vec::new(),
    };
    for (n, entry) in walk(&path).build().enumerate() {
        if n >= FILES_MOST || search.found.len() >= FOUND_MOST || Instant::now() >= ends_at {
            let more = "[there may be more; search for less, or in a directory below]";
            search.notes.push(more.to_owned());
            break;
        }
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            search.file(entry.path());
        }
    }
    Ok(Observation::well(search.told(most)))
}

/// A search as it goes on.
struct Search<'a> {
    place: &'a Place,
    gate: &'a Gate,
    pattern: regex::Regex,
    found: Vec<String>,
    /// What was not searched or is not shown.
    notes: Vec<String>,
}

impl Search<'_> {
    /// Adds the lines of a text file that match. What the hook does not let anybody read is not shown.
    fn file(&mut self, path: &Path) {
        let mut bytes = Vec::new();
        let file = self.place.open(path);
        let read = file.and_then(|file| {
            let long = file.metadata()?.len();
            file.take(FILE_MOST).read_to_end(&mut bytes)?;
            Ok(long)
        });
        let Ok(long) = read else { return };
        if bytes.contains(&0) {
            return;
        }
        let name = self.place.name_of(path);
        if long > FILE_MOST {
            self.note(format!("[of {name} the first MiB alone was searched]"));
        }
        let text = String::from_utf8_lossy(&bytes);
        let room = FOUND_MOST.saturating_sub(self.found.len());
        let lines = text.lines().enumerate();
        let matching = lines
            .filter(|(_, line)| self.pattern.is_match(line))
            .take(room);
        let matching: Vec<String> = matching
            .map(|(n, line)| format!("{name}:{}: {}", n + 1, cut_end(line, LINE_MOST)))
            .collect();
        if matching.is_empty() {
            return;
        }
        match pass(self.gate, "Read", &json!({ "file_path": path })) {
            Ok(()) => self.found.extend(matching),
            Err(refused) => self.note(format!("[{name}: {}]", refused.text)),
        }
    }

    fn note(&mut self, text: String) {
        const MOST: usize = 20;
        if self.notes.len() < MOST {
            self.notes.push(text);
        }
    }

    /// What was found, as far as there is room, and what is not in it.
    fn told(&self, most: usize) -> String {
        let notes = cut_end(&self.notes.join("\n"), most / 2);
        if notes.is_empty() {
            return as_far_as_there_is_room(&self.found, most);
        }
        let room = most.saturating_sub(notes.chars().count() + 1);
        match self.found.is_empty() {
            true => notes,
            false => format!("{}\n{notes}", as_far_as_there_is_room(&self.found, room)),
        }
    }
}
