//! Both files say the same, whenever who is killed.

use chrono::DateTime;

use super::*;
use crate::digest::Digest;
use crate::stories::native::written::Status;

const PLAN: &str = r#"{
  "version": 1,
  "project": "p",
  "stories": [
    {"prompt": "x", "id": "S-1", "title": "t", "priority": 1, "scope": ["a"]},
    {"id": "S-2", "priority": 2, "title": "t", "prompt": "y", "scope": ["a"], "status": "open", "attempts": 4}
  ]
}"#;

fn place() -> (tempfile::TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let plan = dir.path().join("stories.json");
    fs::write(&plan, PLAN).unwrap();
    let place = Place::find(&plan, None, dir.path()).unwrap();
    place.make().unwrap();
    (dir, place)
}

fn clock() -> Clock {
    Clock::manual(DateTime::from_timestamp(1_700_000_000, 0).unwrap())
}

fn open(place: &Place) -> Journal {
    Journal::open(place, clock()).unwrap().0
}

fn began(attempt: u32) -> What {
    What::AttemptBegan {
        story: "S-1".into(),
        attempt,
        prompt_hash: Digest::of(b"p"),
        tree_hash: Digest::of(b"t"),
        head: None,
        executor_version: None,
    }
}

fn ended(status: Status) -> What {
    What::StoryEnded {
        story: "S-1".into(),
        status,
    }
}

/// The plan in its file is what its events make.
fn hold(place: &Place) {
    let file = read(&place.plan).unwrap().document;
    let made = replay(&events(place).unwrap(), &place.name()).unwrap();
    assert_eq!(made.pretty(), file.pretty());
}

#[test]
fn the_plan_is_what_its_events_make() {
    let (_dir, place) = place();
    let mut journal = open(&place);
    hold(&place);
    for what in [began(1), began(2), ended(Status::Passing)] {
        journal.add(what).unwrap();
        hold(&place);
    }
    let story = &open(&place).plan.stories[0];
    assert_eq!((story.attempts, story.status), (2, Status::Passing));
    let text = fs::read_to_string(&place.plan).unwrap();
    assert!(
        text.find("\"prompt\": \"x\"") < text.find("\"id\": \"S-1\""),
        "keys stay in their order: {text}"
    );
}

#[test]
fn who_was_killed_between_the_two_is_followed_by_one_who_goes_on() {
    let (_dir, place) = place();
    let mut journal = open(&place);
    for what in [began(1), ended(Status::Failed)] {
        let before = fs::read(&place.plan).unwrap();
        journal.add(what).unwrap();
        let after = fs::read(&place.plan).unwrap();
        // As if it had been killed behind the event.
        fs::write(&place.plan, before).unwrap();
        let count = events(&place).unwrap().len();
        journal = open(&place);
        assert_eq!(fs::read(&place.plan).unwrap(), after);
        assert_eq!(events(&place).unwrap().len(), count, "nothing was edited");
    }
    // Half an event is none.
    let mut text = fs::read(place.events()).unwrap();
    text.extend(b"{\"at\": \"20");
    fs::write(place.events(), text).unwrap();
    open(&place);
    hold(&place);
}

#[test]
fn what_a_person_edits_counts() {
    let (_dir, place) = place();
    let mut journal = open(&place);
    journal.add(began(1)).unwrap();
    journal.add(ended(Status::Failed)).unwrap();
    let text = fs::read_to_string(&place.plan).unwrap();
    fs::write(
        &place.plan,
        text.replace("failed", "open")
            .replace("\"project\": \"p\"", "\"project\": \"q\""),
    )
    .unwrap();
    let mut journal = open(&place);
    assert_eq!(journal.plan().project, "q");
    journal.add(began(2)).unwrap();
    hold(&place);
    fs::write(&place.plan, "{").unwrap();
    let error = Journal::open(&place, clock()).unwrap_err();
    assert!(error.to_string().contains("is no JSON"), "{error}");
}
