//! The plan's file and its events, which say the same at every moment but one.
//!
//! An event is on the disk before the plan says what it says. Whoever is killed between the two leaves a plan that is one
//! event behind: that is seen by the plan itself, which is then what the events before the last one make, and the next
//! one who opens it goes on from there. A plan that is neither was edited by a person, and is taken as it is.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use carson_core::Clock;

use super::check::{checked, makes_the_plan};
use super::error::StoriesError;
use super::event::{Event, What};
use super::place::Place;
use super::policy;
use super::replay::{applied, replay};
use super::written::{Plan, Story};
use crate::events_file::{EventsWriter, read_events};
use crate::json_file::{FileError, Sync, sweep, write_bytes};
use crate::stories::finding::Finding;
use crate::stories::json::{Json, Pointer};
use crate::tree::read_plain;

/// Bytes of a plan that are read.
pub(super) const LONGEST: u64 = 16 << 20;

/// A plan as it stands in its file.
#[derive(Clone, Debug)]
pub struct Read {
    /// What stands there.
    pub document: Json,
    /// The same, checked.
    pub plan: Plan,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Reads a plan's file.
///
/// # Errors
/// When it cannot be read, or is not right.
pub fn read(path: &std::path::Path) -> Result<Read, StoriesError> {
    let bytes = read_plain(path, LONGEST).map_err(StoriesError::io(path))?;
    let bytes = bytes.ok_or_else(|| FileError::TooLong {
        path: path.to_owned(),
        most: LONGEST,
    })?;
    let not_right = |findings| StoriesError::NotRight {
        path: path.to_owned(),
        findings,
    };
    let document = document(&bytes).map_err(|finding| not_right(vec![finding]))?;
    let plan = checked(&document).map_err(not_right)?;
    Ok(Read {
        document,
        plan,
        bytes,
    })
}

/// Reads a plan's file, and looks at what it names beside it.
///
/// # Errors
/// When it cannot be read, or is not right where it stands.
pub fn read_at(place: &Place) -> Result<Read, StoriesError> {
    let read = read(&place.plan)?;
    let named = read.plan.policy.as_deref();
    let policy = named.and_then(|named| policy::of_plan(&place.root, named).err());
    let path = place.plan_in_tree();
    let made = path.map(|path| makes_the_plan(&read.plan, path.as_path()));
    let findings: Vec<Finding> = policy
        .into_iter()
        .chain(made.into_iter().flatten())
        .collect();
    match findings.is_empty() {
        true => Ok(read),
        false => Err(StoriesError::NotRight {
            path: place.plan.clone(),
            findings,
        }),
    }
}

/// What bytes say.
///
/// # Errors
/// When they are no JSON.
pub fn document(bytes: &[u8]) -> Result<Json, Finding> {
    let wrong = |why: String| Finding::new(&Pointer::root(), format!("is no JSON: {why}"));
    let text = str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    Json::parse(text).map_err(|error| wrong(error.to_string()))
}

/// The events of all plans of a tree.
///
/// # Errors
/// When they cannot be read.
pub fn events(place: &Place) -> Result<Vec<Event>, StoriesError> {
    Ok(read_events(&place.events())?)
}

/// Whether a plan is one event behind: what the last event makes of it.
#[must_use]
pub fn one_behind(document: &Json, events: &[Event], name: &str) -> Option<Json> {
    let own: Vec<&Event> = events.iter().filter(|event| event.plan == name).collect();
    let (last, before) = own.split_last()?;
    let before = replay(before.iter().copied(), name)?;
    let after = applied(Some(before.clone()), &last.what)?;
    (*document == before && after != before).then_some(after)
}

/// Writes both.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    name: String,
    file: PathBuf,
    events: EventsWriter<Event>,
    clock: Clock,
    document: Json,
    plan: Plan,
    /// What we wrote last, or read.
    bytes: Vec<u8>,
    /// The permissions of its file.
    mode: u32,
}

impl Journal {
    /// Opens them, for the one run that there is; the events so far.
    ///
    /// # Errors
    /// When the plan is not right, or a file cannot be used.
    pub fn open(place: &Place, clock: Clock) -> Result<(Self, Vec<Event>), StoriesError> {
        sweep(&place.plan);
        let read = read(&place.plan)?;
        let mut all = events(place)?;
        let found = fs::metadata(&place.plan).map_err(StoriesError::io(&place.plan))?;
        let mut journal = Self {
            mode: found.permissions().mode(),
            path: place.plan.clone(),
            name: place.name(),
            file: place.events(),
            events: EventsWriter::open(&place.events())?,
            clock,
            document: read.document,
            plan: read.plan,
            bytes: read.bytes,
        };
        if let Some(after) = one_behind(&journal.document, &all, &journal.name) {
            journal.put(after)?;
        } else if replay(&all, &journal.name).as_ref() != Some(&journal.document) {
            let document = journal.document.clone();
            journal.add(What::Loaded { document })?;
            all = events(place)?;
        }
        Ok((journal, all))
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What stands in its file, or should.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A story of it.
    #[must_use]
    pub fn story(&self, id: &str) -> Option<&Story> {
        self.plan.stories.iter().find(|story| story.id == id)
    }

    /// Whether the plan's file is what it should be: this regular file and no link to one, with its permissions.
    #[must_use]
    pub fn stands(&self) -> bool {
        let found = fs::symlink_metadata(&self.path);
        let is_it =
            found.is_ok_and(|found| found.is_file() && found.permissions().mode() == self.mode);
        is_it && fs::read(&self.path).is_ok_and(|bytes| bytes == self.bytes)
    }

    /// Something happened.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn add(&mut self, what: What) -> Result<(), StoriesError> {
        let after = applied(Some(self.document.clone()), &what);
        let event = Event {
            at: self.clock.now(),
            plan: self.name.clone(),
            what,
        };
        self.events.add(&event)?;
        let on_disk = self.events.file().and_then(|file| file.sync_data());
        on_disk.map_err(StoriesError::io(&self.file))?;
        match after {
            Some(after) if after != self.document => self.put(after),
            _ => Ok(()),
        }
    }

    /// Writes the plan again as it should be: somebody changed it.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn restore(&self) -> Result<(), StoriesError> {
        let io = || StoriesError::io(&self.path);
        match fs::symlink_metadata(&self.path) {
            // No file takes the place of a directory.
            Ok(found) if found.is_dir() => fs::remove_dir_all(&self.path).map_err(io())?,
            // Its mode is not that of what it leads to.
            Ok(found) if !found.is_file() => fs::remove_file(&self.path).map_err(io())?,
            _ => {}
        }
        write_bytes(&self.path, &self.bytes, Sync::Now).map_err(io())?;
        fs::set_permissions(&self.path, Permissions::from_mode(self.mode)).map_err(io())
    }

    /// Goes on in the file of events as it is now: somebody replaced it.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn reopen(&mut self) -> Result<(), StoriesError> {
        self.events = EventsWriter::open(&self.file)?;
        Ok(())
    }

    fn put(&mut self, document: Json) -> Result<(), StoriesError> {
        let not_right = |findings| StoriesError::NotRight {
            path: self.path.clone(),
            findings,
        };
        self.plan = checked(&document).map_err(not_right)?;
        self.bytes = document.pretty().into_bytes();
        self.document = document;
        self.restore()
    }
}

#[cfg(test)]
mod tests;
