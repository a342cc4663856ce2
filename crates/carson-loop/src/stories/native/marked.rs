//! A story of a plan is marked in the text that people wrote.

use super::written::{Plan, Status};
use crate::stories::json::{Json, Step, with_text};

/// The text of a plan in which this story has another status, and every other byte is what it was. `None` where the
/// text is not that plan's, or has no such story.
#[must_use]
pub fn marked(text: &str, plan: &Plan, story: &str, status: Status) -> Option<String> {
    let index = plan.stories.iter().position(|one| one.id == story)?;
    let way = [Step::Key("stories"), Step::Item(index)];
    let new = with_text(text, &way, "status", status.as_str())?;
    let mut right = Json::parse(text).ok()?;
    let stories = right.object_mut()?.get_mut("stories")?.list_mut()?;
    let object = stories.get_mut(index)?.object_mut()?;
    if object.get("id").and_then(Json::text) != Some(story) {
        return None;
    }
    object.set("status", Json::Text(status.as_str().to_owned()));
    // What is not proven is not written.
    (Json::parse(&new).ok()? == right).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stories::native::check::checked;

    const TEXT: &str = "{\"version\": 1, \"project\": \"p\",\n  \"stories\": [\n    { \"id\": \"S-1\", \"priority\": 1, \"title\": \"t\", \"prompt\": \"p\",   \"scope\": [ \"a\" ] },\n    { \"id\": \"S-2\", \"priority\": 1, \"title\": \"t\", \"status\" :\"open\", \"prompt\": \"p\", \"scope\": [\"b\"] }\n  ]\n}";

    #[test]
    fn a_status_changes_and_nothing_else() {
        let plan = checked(&Json::parse(TEXT).unwrap()).unwrap();
        let mark = |id: &str| marked(TEXT, &plan, id, Status::Passing);
        let right = TEXT.replace("[ \"a\" ] }", "[ \"a\" ], \"status\": \"passing\" }");
        assert_eq!(mark("S-1"), Some(right));
        let right = TEXT.replace("\"status\" :\"open\"", "\"status\" :\"passing\"");
        assert_eq!(mark("S-2"), Some(right));
        assert_eq!(mark("S-3"), None);
        let other = TEXT.replace("S-1", "S-9");
        assert_eq!(marked(&other, &plan, "S-1", Status::Passing), None);
    }
}
