//! `edit_file`: one place of a file, found by its exact text.

use serde::Deserialize;
use serde_json::json;

use super::tool::{Done, Tool, pass, text_of};
use super::write::ask;
use crate::approve::Approval;
use crate::gate::Gate;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "edit_file",
    description: "Replaces the one place of a file that has exactly the old text.",
    arguments: &[
        ("path", "string", "the file", true),
        ("old", "string", "text that is there exactly once", true),
        ("new", "string", "text in its place", true),
    ],
    effect: Effect::Changes,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    old: String,
    new: String,
}

pub(super) async fn call(place: &Place, gate: &Gate, approval: &Approval, args: Args) -> Done {
    place.existing(&args.path).map_err(Observation::error)?;
    let path = place.to_write(&args.path).map_err(Observation::error)?;
    let input = json!({ "file_path": path, "old_string": args.old, "new_string": args.new });
    pass(gate, "Edit", &input)?;
    let before = text_of(place, &path, &args.path)?;
    let after = replaced(&before, &args.old, &args.new)
        .map_err(|why| Observation::error(format!("{}: {why}", args.path)))?;
    ask(approval, place, &path, &before, &after).await?;
    place
        .replace(&path, &after)
        .map_err(|error| Observation::error(format!("{}: {error}", args.path)))?;
    Ok(Observation::well(format!(
        "edited {}",
        place.name_of(&path)
    )))
}

/// The text with the one place replaced.
fn replaced(text: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("the old text is empty; write_file writes a whole file".to_owned());
    }
    let Some(at) = text.find(old) else {
        return Err("the old text is not there; read the file again".to_owned());
    };
    // Places may overlap: the next one begins after the first one's first character.
    let next = at + old.chars().next().map_or(1, char::len_utf8);
    if text[next..].contains(old) {
        return Err(
            "the old text is there more than once; give more of what stands around it".to_owned(),
        );
    }
    Ok([&text[..at], new, &text[at + old.len()..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_must_match_exactly_once() {
        assert_eq!(replaced("a b c", "b", "x").unwrap(), "a x c");
        assert_eq!(replaced("ä\r\nb", "\r\n", "\n").unwrap(), "ä\nb");
        for (text, old) in [
            ("a b", "c"),
            ("b b", "b"),
            ("aaa", "aa"),
            ("a", ""),
            ("a", "A"),
        ] {
            assert!(replaced(text, old, "x").is_err(), "{old:?} in {text:?}");
        }
    }
}
