//! How a loop stands by ALPF's own words: what its users bring along.
//!
//! ALPF writes five keys into `state.json`, and knows nothing of our events. Where there are none, its state is where the
//! loop begins; where there are some, they say what was seen, and of what ALPF wrote since counts what a person may edit,
//! too. From the first run on the file is ours: the same keys, and more.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::event::Event;
use crate::json_file::{self, FileError};
use crate::state::State;
use crate::status::Status;

/// ALPF's keys; others of its are passed over.
#[derive(Debug, Deserialize)]
struct Theirs {
    #[serde(default)]
    status: String,
    #[serde(default)]
    attempt: u32,
    max_attempts: Option<u32>,
    last_output_hash: Option<String>,
    #[serde(default)]
    promise_fulfilled: bool,
}

/// The state in such a file, whether it is ALPF's or ours, behind these events.
///
/// # Errors
/// When it is neither: with the line.
pub(crate) fn read(path: &Path, bytes: &[u8], past: &[Event]) -> Result<State, FileError> {
    let table: Map<String, Value> = json_file::parse(path, bytes)?;
    if table.contains_key("version") {
        return json_file::parse(path, bytes);
    }
    let theirs: Theirs = json_file::parse(path, bytes)?;
    let known = State::of(past);
    let state = State {
        status: status(&theirs, &known),
        attempt: theirs.attempt,
        max_attempts: theirs.max_attempts.unwrap_or(known.max_attempts),
        ..known
    };
    if !past.is_empty() {
        return Ok(state);
    }
    Ok(State {
        // One that is no SHA-256 is held against nothing of ours.
        last_output_hash: theirs.last_output_hash.and_then(|hash| hash.parse().ok()),
        promise_fulfilled: theirs.promise_fulfilled,
        reason: Some("as ALPF left it".to_owned()),
        last_attempt: theirs.attempt,
        judged_from: theirs.attempt,
        events: 1,
        ..state
    })
}

/// Our word for it. One that we do not have is of a loop that goes on.
fn status(theirs: &Theirs, known: &State) -> Status {
    let word = Value::from(theirs.status.to_ascii_lowercase());
    match serde_json::from_value(word) {
        Ok(status) => status,
        Err(_) if known.events > 0 => known.status,
        Err(_) if theirs.promise_fulfilled => Status::Done,
        Err(_) if theirs.attempt == 0 => Status::Idle,
        Err(_) => Status::Running,
    }
}

#[cfg(test)]
mod tests {
    use carson_core::Clock;

    use super::*;
    use crate::event::Happened;

    fn read(text: &str, past: &[Event]) -> Result<State, FileError> {
        super::read(Path::new("state.json"), text.as_bytes(), past)
    }

    #[test]
    fn its_five_keys_are_where_the_loop_begins() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for (hash, is_one) in [(hash, true), ("d3b07384", false), ("", false)] {
            let text = format!(
                r#"{{"status": "running", "attempt": 2, "max_attempts": 7, "last_output_hash": "{hash}", "promise_fulfilled": false, "started": 1}}"#
            );
            let state = read(&text, &[]).unwrap();
            assert_eq!(state.status, Status::Running);
            let numbers = (state.attempt, state.last_attempt, state.judged_from);
            assert_eq!((numbers, state.max_attempts), ((2, 2, 2), 7));
            assert_eq!(state.last_output_hash.is_some(), is_one, "{hash}");
        }
        for (text, right) in [
            ("{}", Status::Idle),
            (
                r#"{"status": "Exhausted", "attempt": 3}"#,
                Status::Exhausted,
            ),
            (r#"{"status": "retrying", "attempt": 3}"#, Status::Running),
            (
                r#"{"status": "ok", "promise_fulfilled": true}"#,
                Status::Done,
            ),
        ] {
            assert_eq!(read(text, &[]).unwrap().status, right, "{text}");
        }
        for text in ["", "[]", r#"{"attempt": "two"}"#, r#"{"version": 1}"#] {
            assert!(read(text, &[]).is_err(), "{text}");
        }
    }

    #[test]
    fn behind_our_events_only_what_a_person_may_edit_counts() {
        let adopted = Happened::Adopted {
            state: Box::new(read(r#"{"status": "running", "attempt": 2}"#, &[]).unwrap()),
        };
        let past = [Event {
            at: Clock::system().now(),
            what: adopted,
        }];
        let known = State::of(&past);
        let text =
            r#"{"status": "stopped", "attempt": 4, "max_attempts": 9, "promise_fulfilled": true}"#;
        let right = State {
            status: Status::Stopped,
            attempt: 4,
            max_attempts: 9,
            ..known.clone()
        };
        assert_eq!(read(text, &past).unwrap(), right);
        let ours = serde_json::to_string(&known).unwrap();
        assert_eq!(read(&ours, &past).unwrap(), known);
    }
}
