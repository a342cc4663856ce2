//! A request to stop behind the attempt that runs, for the process that runs it and no other.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::error::LoopError;
use crate::json_file::{self, Sync};
use crate::lock::Owner;
use crate::place::Place;

/// Whom it is meant for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopFile {
    pid: i32,
    start: u64,
    at: DateTime<Utc>,
}

impl StopFile {
    /// Asks whoever has the lock.
    pub(crate) fn ask(place: &Place, owner: &Owner, at: DateTime<Utc>) -> Result<(), LoopError> {
        let Owner { pid, start, .. } = *owner;
        json_file::write(&place.stop(), &Self { pid, start, at }, Sync::Later)?;
        Ok(())
    }

    /// Whether we were asked.
    pub(crate) fn is_meant(place: &Place) -> bool {
        let me = carson_proc::ProcessId::current();
        let asked = json_file::read_if_there::<Self>(&place.stop());
        asked
            .ok()
            .flatten()
            .is_some_and(|asked| (asked.pid, asked.start) == (me.pid, me.start))
    }
}
