use std::fs;

use chrono::DateTime;

use super::*;
use crate::digest::Digest;
use crate::event::Ended;
use crate::place::Layout;

struct Scene {
    _dir: tempfile::TempDir,
    place: Place,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::at(dir.path(), Layout::Native).unwrap();
        place.make().unwrap();
        Self { _dir: dir, place }
    }

    fn open(&self) -> Result<Journal, LoopError> {
        let clock = Clock::manual(DateTime::from_timestamp(1_700_000_000, 0).unwrap());
        Journal::open(&self.place, &clock)
    }

    fn begun(&self) -> Journal {
        let mut journal = self.open().unwrap();
        journal.add(started(), Sync::Later).unwrap();
        journal.add(ended(), Sync::Later).unwrap();
        journal
    }

    fn edit(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.place.state()).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.place.state(), text.replace(from, to)).unwrap();
    }
}

fn started() -> Happened {
    Happened::Started {
        pid: 1,
        max_attempts: 10,
        configured: None,
        subject: Digest::of(b"subject"),
        goes_on: false,
        sandbox: false,
    }
}

fn ended() -> Happened {
    let how = Ended {
        status: Status::Exhausted,
        reason: "10 attempts failed".to_owned(),
        found: None,
        elapsed_ms: 1_234,
    };
    Happened::Ended { how }
}

#[test]
fn the_state_is_what_the_events_come_to_after_any_death() {
    let scene = Scene::new();
    let state = scene.begun().state().clone();
    let events: Vec<Event> = read_events(&scene.place.events()).unwrap();
    assert_eq!(State::of(&events), state);
    assert_eq!(state_of(&scene.place).unwrap(), state);
    // Killed between the event and the state, before either, and after the power went.
    let whole = fs::read(scene.place.events()).unwrap();
    let first = State::of(&events[..1]);
    for (known, left) in [(2, first.clone()), (1, first)] {
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        fs::write(scene.place.events(), lines[..known].concat()).unwrap();
        json_file::write(&scene.place.state(), &left, Sync::Later).unwrap();
        assert_eq!(*scene.open().unwrap().state(), State::of(&events[..known]));
    }
    fs::write(scene.place.events(), &whole).unwrap();
    for left in [&b""[..], b"\0\0\0\0"] {
        fs::write(scene.place.state(), left).unwrap();
        assert_eq!(*scene.open().unwrap().state(), state);
        assert_eq!(state_of(&scene.place).unwrap(), state);
    }
    // Its events are gone.
    fs::remove_file(scene.place.events()).unwrap();
    let adopted = scene.open().unwrap().state().clone();
    assert_eq!(
        (adopted.status, adopted.max_attempts),
        (Status::Exhausted, 10)
    );
    assert_eq!(*scene.open().unwrap().state(), adopted);
}

#[test]
fn what_a_person_may_edit_becomes_an_event() {
    let scene = Scene::new();
    scene.begun();
    scene.edit("\"max_attempts\": 10", "\"max_attempts\": 12");
    scene.edit("\"status\": \"exhausted\"", "\"status\": \"idle\"");
    let journal = scene.open().unwrap();
    assert_eq!(
        (journal.state().status, journal.state().max_attempts),
        (Status::Idle, 12)
    );
    assert_eq!(journal.past().len(), 3);
    assert_eq!(State::of(journal.past()), *journal.state());
    assert_eq!(scene.open().unwrap().past().len(), 3, "it is one only once");
}

#[test]
fn what_a_person_broke_is_told_by_its_line_and_left_alone() {
    for (from, to, line, says) in [
        ("\"attempt\": 0,", "\"attempt\": 0", 5, "expected `,`"),
        (
            "\"elapsed_ms\": 1234",
            "\"elapsed_ms\": 1",
            11,
            "elapsed_ms is not what events.jsonl",
        ),
        (
            "\"version\": 1,",
            "\"version\": 1, \"x\": 2,",
            2,
            "unknown field `x`",
        ),
    ] {
        let scene = Scene::new();
        let mut journal = scene.begun();
        scene.edit(from, to);
        let broken = fs::read(scene.place.state()).unwrap();
        let error = journal.take_edits().unwrap_err().to_string();
        assert!(
            error.contains(&format!("state.json:{line}:")) && error.contains(says),
            "{error}"
        );
        journal.add(ended(), Sync::Now).unwrap();
        drop(journal);
        let error = scene.open().unwrap_err().to_string();
        assert!(error.contains(&format!("state.json:{line}:")), "{error}");
        assert_eq!(fs::read(scene.place.state()).unwrap(), broken);
    }
}

#[test]
fn while_it_runs_edits_are_taken_over_at_the_boundary() {
    let scene = Scene::new();
    let mut journal = scene.begun();
    assert!(!journal.take_edits().unwrap());
    scene.edit("\"max_attempts\": 10", "\"max_attempts\": 3");
    assert!(journal.take_edits().unwrap());
    assert_eq!(journal.state().max_attempts, 3);
    assert!(!journal.take_edits().unwrap());
    fs::remove_file(scene.place.state()).unwrap();
    assert!(!journal.take_edits().unwrap());
    assert_eq!(state_of(&scene.place).unwrap(), *journal.state());
}

#[test]
fn what_is_edited_while_something_happens_waits_for_the_boundary() {
    let scene = Scene::new();
    let mut journal = scene.begun();
    scene.edit("\"max_attempts\": 10", "\"max_attempts\": 3");
    let edited = fs::read(scene.place.state()).unwrap();
    for _ in 0..2 {
        journal.add(started(), Sync::Now).unwrap();
        assert_eq!(fs::read(scene.place.state()).unwrap(), edited);
    }
    // A death before the boundary, and the boundary itself.
    assert_eq!(scene.open().unwrap().state().max_attempts, 3);
    fs::write(scene.place.state(), &edited).unwrap();
    assert!(journal.take_edits().unwrap());
    let taken = journal.state().clone();
    assert_eq!((taken.max_attempts, taken.status), (3, Status::Running));
    // The other one took it over as well, and wrote one event more.
    let seen = || {
        let state = state_of(&scene.place).unwrap();
        (state.max_attempts, state.status)
    };
    assert_eq!(seen(), (3, Status::Running));
    journal.add(ended(), Sync::Now).unwrap();
    assert_eq!(seen(), (3, Status::Exhausted));
}

#[test]
fn how_many_events_there_are_is_not_for_editing() {
    let scene = Scene::new();
    let mut journal = scene.begun();
    scene.edit("\"events\": 2", "\"events\": 9");
    let error = journal.take_edits().unwrap_err().to_string();
    assert!(error.contains("events is not what events.jsonl"), "{error}");
}

#[test]
fn whoever_only_looks_believes_no_more_than_a_run_does() {
    let scene = Scene::new();
    let journal = scene.begun();
    let own = journal.state().clone();
    drop(journal);
    scene.edit(
        "\"promise_fulfilled\": false",
        "\"promise_fulfilled\": true",
    );
    scene.edit("\"status\": \"exhausted\"", "\"status\": \"done\"");
    let (state, wrong) = judged(&scene.place).unwrap();
    assert_eq!(state, own);
    let wrong = wrong.unwrap().to_string();
    assert!(
        wrong.contains("promise_fulfilled is not what events.jsonl"),
        "{wrong}"
    );
    assert_eq!(scene.open().unwrap_err().to_string(), wrong);
    // Without the events that would say so.
    fs::remove_file(scene.place.events()).unwrap();
    let (state, _) = judged(&scene.place).unwrap();
    assert_eq!(
        (state.status, state.promise_fulfilled),
        (Status::Idle, false)
    );
    let journal = scene.open().unwrap();
    assert_eq!(journal.state().status, Status::Idle);
}

#[test]
fn a_state_that_never_heard_of_the_last_event_is_what_the_events_come_to() {
    let scene = Scene::new();
    let mut journal = scene.begun();
    let behind = fs::read(scene.place.state()).unwrap();
    journal.add(started(), Sync::Now).unwrap();
    fs::write(scene.place.state(), behind).unwrap();
    let (state, wrong) = judged(&scene.place).unwrap();
    assert!(wrong.is_none() && state == *journal.state());
}
