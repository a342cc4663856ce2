//! How everything was before the attempt that runs: in a file, for whoever comes after a run that was killed.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::areas::{Areas, Seen};
use super::error::StoriesError;
use super::repo::Refs;
use crate::json_file::{Sync, read_if_there, write};
use crate::tree::{Entry, TreePath};

/// It, as it is written down.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    story: String,
    attempt: u32,
    refs: Option<Refs>,
    areas: Vec<Vec<(TreePath, Entry)>>,
    hidden: Vec<Vec<TreePath>>,
}

/// How everything was.
#[derive(Clone, Debug)]
pub struct Before {
    /// All areas.
    pub seen: Seen,
    /// The repository's refs.
    pub refs: Option<Refs>,
}

impl Before {
    /// Writes it down for an attempt.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn write(&self, path: &Path, story: &str, attempt: u32) -> Result<(), StoriesError> {
        let written = Written {
            story: story.to_owned(),
            attempt,
            refs: self.refs.clone(),
            areas: self.seen.entries(),
            hidden: self.seen.hidden(),
        };
        write(path, &written, Sync::Now)?;
        Ok(())
    }

    /// What was written down for an attempt; `None` where it was for another one.
    ///
    /// # Errors
    /// When it cannot be read, or is of other areas: the repository came or went.
    pub fn read(
        path: &Path,
        areas: &Areas,
        story: &str,
        attempt: u32,
    ) -> Result<Option<Self>, StoriesError> {
        let written: Option<Written> = read_if_there(path)?;
        let written =
            written.filter(|written| written.story == story && written.attempt == attempt);
        let Some(written) = written else {
            return Ok(None);
        };
        let seen = Seen::of_entries(areas, written.areas, written.hidden);
        let seen = seen.ok_or_else(|| StoriesError::OtherAreas {
            story: story.to_owned(),
            attempt,
        })?;
        Ok(Some(Self {
            seen,
            refs: written.refs,
        }))
    }

    /// It is not needed any more.
    pub fn forget(path: &Path) {
        let _ = fs::remove_file(path);
    }
}
