//! The plan that events make: nothing else is looked at.

use super::event::{Event, What};
use super::written::Status;
use crate::stories::json::Json;

/// The plan of this name as its events leave it; `None` where there are none.
#[must_use]
pub fn replay<'e>(events: impl IntoIterator<Item = &'e Event>, plan: &str) -> Option<Json> {
    let events = events.into_iter().filter(|event| event.plan == plan);
    events.fold(None, |document, event| applied(document, &event.what))
}

/// The plan after one more event.
#[must_use]
pub fn applied(document: Option<Json>, what: &What) -> Option<Json> {
    if let What::Loaded { document } = what {
        return Some(document.clone());
    }
    let mut document = document?;
    match what {
        What::AttemptBegan { story, attempt, .. } => {
            set(
                &mut document,
                story,
                "attempts",
                Json::Number((*attempt).into()),
            );
        }
        What::StoryEnded { story, status } => {
            set(&mut document, story, "status", word(*status));
        }
        _ => {}
    }
    Some(document)
}

fn word(status: Status) -> Json {
    Json::Text(status.as_str().to_owned())
}

fn set(document: &mut Json, story: &str, key: &str, value: Json) {
    let stories = document
        .object_mut()
        .and_then(|root| root.get_mut("stories"));
    let stories = stories.and_then(Json::list_mut).into_iter().flatten();
    let mut objects = stories.filter_map(Json::object_mut);
    let is_it = |id: &Json| id.text() == Some(story);
    if let Some(object) = objects.find(|object| object.get("id").is_some_and(is_it)) {
        object.set(key, value);
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::digest::Digest;

    fn event(plan: &str, what: What) -> Event {
        Event {
            at: DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
            plan: plan.to_owned(),
            what,
        }
    }

    fn began(story: &str, attempt: u32) -> What {
        What::AttemptBegan {
            story: story.to_owned(),
            attempt,
            prompt_hash: Digest::of(b"p"),
            tree_hash: Digest::of(b"t"),
            head: None,
            executor_version: None,
        }
    }

    #[test]
    fn each_plan_has_its_own_events_and_only_they_count() {
        let document =
            Json::parse(r#"{"stories": [{"id": "S-1"}, {"id": "S-2", "status": "open"}]}"#);
        let document = document.unwrap();
        let ended = What::StoryEnded {
            story: "S-1".into(),
            status: Status::Failed,
        };
        let other = Json::parse("{}").unwrap();
        let events = [
            event("a", What::Loaded { document }),
            event(
                "b",
                What::Loaded {
                    document: other.clone(),
                },
            ),
            event("a", began("S-1", 1)),
            event("b", began("S-2", 9)),
            event("a", ended),
            event("a", began("S-2", 3)),
            event("a", began("S-3", 3)),
        ];
        let right = r#"{"stories": [{"id": "S-1", "attempts": 1, "status": "failed"}, {"id": "S-2", "status": "open", "attempts": 3}]}"#;
        let right = Json::parse(right).unwrap();
        assert_eq!(replay(&events, "a").unwrap().pretty(), right.pretty());
        assert_eq!(replay(&events, "b"), Some(other));
        assert_eq!(replay(&events, "c"), None);
        // As they stand in the file.
        for event in &events {
            let line = serde_json::to_string(event).unwrap();
            assert_eq!(
                serde_json::from_str::<Event>(&line).unwrap(),
                *event,
                "{line}"
            );
        }
    }
}
