//! `read_file`: the lines of a text file.

use serde::Deserialize;
use serde_json::json;

use super::tool::{Done, Tool, pass, text_of};
use crate::cut::cut_end;
use crate::gate::Gate;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "read_file",
    description: "Reads a text file.",
    arguments: &[
        ("path", "string", "the file", true),
        ("offset", "integer", "first line, from 1", false),
        ("limit", "integer", "how many lines", false),
    ],
    effect: Effect::Reads,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

pub(super) fn call(place: &Place, gate: &Gate, args: Args, most: usize) -> Done {
    let path = place.existing(&args.path).map_err(Observation::error)?;
    pass(gate, "Read", &json!({ "file_path": path }))?;
    let text = text_of(place, &path, &args.path)?;
    let first = args.offset.unwrap_or(1).max(1);
    Ok(Observation::well(lines(&text, first, args.limit, most)))
}

/// So many lines, as far as there is room, and a note where some are missing.
fn lines(text: &str, first: usize, limit: Option<usize>, most: usize) -> String {
    const NOTE: usize = 100;
    let all = text.split_inclusive('\n').count();
    let (mut shown, mut next) = (String::new(), first);
    let mut room = most.saturating_sub(NOTE);
    for line in text.split_inclusive('\n').skip(first - 1) {
        let long = line.chars().count();
        if long > room || limit.is_some_and(|limit| next - first >= limit) {
            break;
        }
        room -= long;
        shown.push_str(line);
        next += 1;
    }
    if next == first && first <= all && limit != Some(0) {
        // A line longer than everything: its beginning.
        let line = text
            .split_inclusive('\n')
            .nth(first - 1)
            .unwrap_or_default();
        shown = cut_end(line, room);
        next += 1;
    }
    if first > all && all > 0 {
        return format!("[the file has {all} lines]");
    }
    if next <= all {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&format!(
            "[lines {first} to {} of {all}; offset {next} goes on]",
            next - 1
        ));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let text: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        assert_eq!(lines(&text, 1, None, 10_000), text);
        assert_eq!(
            lines(&text, 2, Some(1), 10_000),
            "line 2\n[lines 2 to 2 of 9; offset 3 goes on]"
        );
        assert_eq!(
            lines(&text, 1, None, 100 + 16),
            "line 1\nline 2\n[lines 1 to 2 of 9; offset 3 goes on]"
        );
        assert_eq!(lines(&text, 10, None, 100), "[the file has 9 lines]");
        assert_eq!(lines("", 1, None, 100), "");
        let long = "x".repeat(5_000) + "\nend\n";
        assert!(lines(&long, 1, None, 500).chars().count() <= 500);
    }
}
