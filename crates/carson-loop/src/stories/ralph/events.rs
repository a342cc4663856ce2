//! `.runtime/events.log`: what was decided, a line each.

use std::io::Write as _;
use std::path::PathBuf;

use carson_core::Clock;

use super::ended::Ended;
use crate::own_file::{How, open};

/// Adds lines.
#[derive(Clone, Debug)]
pub struct Events {
    path: PathBuf,
    clock: Clock,
}

impl Events {
    /// Those in a file, which is made if need be.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(path: PathBuf, clock: Clock) -> Result<Self, Ended> {
        let events = Self { path, clock };
        events.write("")?;
        Ok(events)
    }

    /// Adds one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, text: &str) -> Result<(), Ended> {
        // Names of files stand in it: one event is one line, whatever they hold.
        let text = text.replace(['\n', '\r'], " ");
        self.write(&format!("{} {text}\n", self.now()))
    }

    /// The time, as ralph-loop writes it.
    #[must_use]
    pub fn now(&self) -> String {
        self.clock.now().format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The day.
    #[must_use]
    pub fn day(&self) -> String {
        self.clock.now().format("%Y-%m-%d").to_string()
    }

    fn write(&self, text: &str) -> Result<(), Ended> {
        let file = open(&self.path, How::Append);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(Ended::io("write the events", &self.path))
    }
}
