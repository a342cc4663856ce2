//! The two files that say how a loop stands: `events.jsonl`, and `state.json`, which is what the events come to.
//!
//! An event is written first, then the state; so after a death the state may lack the last event, and is made of
//! them again. Any other difference is a person's: `status`, `attempt` and `max_attempts` are taken over, and the edit becomes
//! an event; whatever else was edited, or is no JSON, is refused with its line, and from then on the file is left alone.
//! Until an edit is taken over nothing is written over it: events go on, and the state waits.

use std::fs::File;
use std::path::{Path, PathBuf};

use carson_core::Clock;

use crate::alpf_state;
use crate::error::LoopError;
use crate::event::{Event, Happened};
use crate::events_file::{EventsWriter, read_events};
use crate::json_file::{self, FileError, Sync};
use crate::place::{Layout, Place};
use crate::state::State;
use crate::status::Status;

/// Keys of the state that a person may change.
const EDITABLE: [&str; 3] = ["status", "attempt", "max_attempts"];

/// Writes down what happens. One process at a time may.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    layout: Layout,
    events: EventsWriter<Event>,
    past: Vec<Event>,
    state: State,
    /// The bytes of the state's file, as we wrote them.
    written: Vec<u8>,
    /// A person broke the file: it is not ours to write any more.
    left_alone: bool,
    clock: Clock,
}

impl Journal {
    /// Opens that of a loop.
    ///
    /// # Errors
    /// When one of the files is not what it should be: with its line.
    pub fn open(place: &Place, clock: &Clock) -> Result<Self, LoopError> {
        let past: Vec<Event> = read_events(&place.events())?;
        let mut journal = Self {
            path: place.state(),
            layout: place.layout(),
            events: EventsWriter::open(&place.events())?,
            state: State::of(&past),
            past,
            written: Vec::new(),
            left_alone: false,
            clock: clock.clone(),
        };
        match read_state(&journal.path, journal.layout, &journal.past)? {
            Some((state, bytes)) if state == journal.state => journal.written = bytes,
            Some((state, bytes)) => journal.reconcile(&state, bytes)?,
            None if journal.past.is_empty() => {}
            None => journal.write(Sync::Later)?,
        }
        Ok(journal)
    }

    /// How the loop stands.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What happened so far.
    #[must_use]
    pub fn past(&self) -> &[Event] {
        &self.past
    }

    /// Whether the events' file is still the one that this writes.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.events.is_there()
    }

    /// A handle of the events' file, for whoever sees to it that it is on the disk.
    ///
    /// # Errors
    /// When there are no more handles.
    pub fn file(&self) -> std::io::Result<File> {
        self.events.file()
    }

    /// Writes down that something happened.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn add(&mut self, what: Happened, sync: Sync) -> Result<(), LoopError> {
        let event = Event {
            at: self.clock.now(),
            what,
        };
        self.events.add(&event)?;
        if sync == Sync::Now {
            let synced = self.events.file().and_then(|file| file.sync_data());
            synced.map_err(LoopError::io("events.jsonl"))?;
        }
        self.state.take(&event);
        self.past.push(event);
        self.write(sync)
    }

    /// Takes over what a person wrote into the state's file since; whether there was anything.
    ///
    /// # Errors
    /// When it is not what belongs there: with the line. The file is left alone from then on.
    pub fn take_edits(&mut self) -> Result<bool, LoopError> {
        if self.left_alone {
            return Ok(false);
        }
        let read = read_state(&self.path, self.layout, &self.past);
        let found = read.inspect_err(|_| self.left_alone = true)?;
        match found {
            Some((_, bytes)) if bytes == self.written => Ok(false),
            Some((state, bytes)) => self.take(&state, bytes),
            // Taken away: what it said is known.
            None => self.write(Sync::Later).map(|()| false),
        }
    }

    fn reconcile(&mut self, found: &State, bytes: Vec<u8>) -> Result<(), LoopError> {
        if found.events > self.past.len() as u64 {
            // Its events are gone.
            self.written = bytes;
            let state = Box::new(without_events(found, self.layout));
            return self.add(Happened::Adopted { state }, Sync::Later);
        }
        self.take(found, bytes).map(drop)
    }

    /// Takes what stands in the file instead of what we wrote; whether a person wrote it. It is held against the state
    /// at the event that it names: those that came since are in no state that a person has seen.
    fn take(&mut self, found: &State, bytes: Vec<u8>) -> Result<bool, LoopError> {
        let then = at_its_event(&self.past, found);
        let is_edited = *found != then;
        if is_edited {
            self.edited(&then, found, bytes)?;
        } else {
            // Its writer was killed before it came to the last events.
            self.written = bytes;
            self.write(Sync::Later)?;
        }
        Ok(is_edited)
    }

    fn edited(&mut self, before: &State, found: &State, bytes: Vec<u8>) -> Result<(), LoopError> {
        let taken = taken_over(&self.state, before, found, (&self.path, &bytes));
        let taken = taken.inspect_err(|_| self.left_alone = true)?;
        let what = Happened::StateEdited {
            status: taken.status,
            attempt: taken.attempt,
            max_attempts: taken.max_attempts,
        };
        self.written = bytes;
        self.add(what, Sync::Later)
    }

    fn write(&mut self, sync: Sync) -> Result<(), LoopError> {
        if !self.left_alone && !self.is_edited() {
            self.written = json_file::write(&self.path, &self.state, sync)?;
        }
        Ok(())
    }

    /// Whether something else than we wrote stands in the file. What the power left of one is nobody's edit.
    fn is_edited(&self) -> bool {
        match json_file::bytes(&self.path) {
            Ok(bytes) => bytes != self.written && !is_blank(&bytes),
            Err(error) => !error.is_absent(),
        }
    }
}

/// How a loop stands, for whoever only looks.
///
/// # Errors
/// When one of the files is not what it should be: with its line.
pub fn state_of(place: &Place) -> Result<State, LoopError> {
    Ok(judged(place)?.0)
}

/// The same, and what a run that begins now would refuse of the state's file: then this is what the events come to.
///
/// # Errors
/// When one of the files cannot be read, or is no state and no events: with its line.
pub fn judged(place: &Place) -> Result<(State, Option<FileError>), LoopError> {
    let path = place.state();
    let past: Vec<Event> = read_events(&place.events())?;
    let Some((found, bytes)) = read_state(&path, place.layout(), &past)? else {
        return Ok((State::of(&past), None));
    };
    if found.events > past.len() as u64 {
        // Its events are gone, or came since.
        let past: Vec<Event> = read_events(&place.events())?;
        if found.events > past.len() as u64 {
            return Ok((without_events(&found, place.layout()), None));
        }
        return Ok((State::of(&past), None));
    }
    let (own, then) = (State::of(&past), at_its_event(&past, &found));
    Ok(match taken_over(&own, &then, &found, (&path, &bytes)) {
        Ok(taken) => (taken, None),
        Err(error) => (own, Some(error)),
    })
}

/// A state of which the events are gone. That a promise was kept nobody believes without them: the next run asks. What
/// ALPF wrote never had any.
fn without_events(found: &State, layout: Layout) -> State {
    let mut state = found.clone();
    if layout == Layout::Native && matches!(state.status, Status::Done | Status::AlreadyDone) {
        state.status = Status::Idle;
        state.reason = Some("the events that it came of are gone".to_owned());
    }
    if layout == Layout::Native {
        state.promise_fulfilled = false;
    }
    state
}

/// The state at the event that a state's file names.
fn at_its_event(past: &[Event], found: &State) -> State {
    let known = usize::try_from(found.events).unwrap_or(usize::MAX);
    State::of(&past[..known.min(past.len())])
}

/// What the events come to, with what a person edited in the file since `before`.
fn taken_over(
    own: &State,
    before: &State,
    found: &State,
    (path, bytes): (&Path, &[u8]),
) -> Result<State, FileError> {
    if let Some(key) = changed_key(before, found) {
        return Err(FileError::Malformed {
            path: path.to_owned(),
            line: line_of(key, bytes),
            column: 1,
            detail: format!(
                "{key} is not what events.jsonl beside it comes to: one of the two was edited, and only {} of this one may be",
                EDITABLE.join(", ")
            ),
        });
    }
    let mut taken = own.clone();
    // What was not edited is as the events have it.
    if found.status != before.status {
        taken.status = found.status;
    }
    if found.attempt != before.attempt {
        taken.attempt = found.attempt;
    }
    if found.max_attempts != before.max_attempts {
        taken.max_attempts = found.max_attempts;
    }
    Ok(taken)
}

/// The state and its bytes; `None` for none, and for what the power left of one: nothing, or zeros.
fn read_state(
    path: &Path,
    layout: Layout,
    past: &[Event],
) -> Result<Option<(State, Vec<u8>)>, FileError> {
    let bytes = match json_file::bytes(path) {
        Err(error) if error.is_absent() => return Ok(None),
        other => other?,
    };
    if is_blank(&bytes) {
        return Ok(None);
    }
    let state = match layout {
        Layout::Native => json_file::parse(path, &bytes)?,
        Layout::Alpf => alpf_state::read(path, &bytes, past)?,
    };
    Ok(Some((state, bytes)))
}

/// Whether this is what the power leaves of a file.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// A key that differs and is not a person's.
fn changed_key(before: &State, found: &State) -> Option<&'static str> {
    let table = |state: &State| serde_json::to_value(state).unwrap_or_default();
    let (before, found) = (table(before), table(found));
    let keys: [&str; 12] = [
        "version",
        "last_output_hash",
        "promise_fulfilled",
        "reason",
        "last_attempt",
        "judged_from",
        "elapsed_ms",
        "subject",
        "started_at",
        "updated_at",
        "ended_at",
        "events",
    ];
    keys.into_iter()
        .find(|key| before.get(key) != found.get(key))
}

fn line_of(key: &str, bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let named = format!("\"{key}\"");
    let line = text
        .lines()
        .position(|line| line.trim_start().starts_with(&named));
    line.map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests;
