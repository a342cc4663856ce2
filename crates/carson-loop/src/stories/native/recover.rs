//! After a run that was killed during an attempt: what it started is ended, what it changed is undone and kept.
//!
//! Files are put back when only files changed. Where refs or the plan are not what they were, nobody can say whether it was
//! the executor or a person: then whoever runs says it.

use std::fs;
use std::time::Duration;

use carson_proc::reap_marked;

use super::attempt::RUN;
use super::before::Before;
use super::error::StoriesError;
use super::event::{Event, Outcome, What};
use super::journal::{document, events, one_behind};
use super::place::Place;
use super::replay::replay;
use super::runner::{Over, Runner};
use super::settings::Interrupted;
use super::told::Told;
use crate::json_file::{Sync, write_bytes};
use crate::stories::json::Json;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// An attempt that began and did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    story: String,
    attempt: u32,
}

/// The attempt that a killed run left, of any plan of the tree.
fn left(events: &[Event]) -> Option<Open> {
    events.iter().fold(None, |left, event| match &event.what {
        What::AttemptBegan { story, attempt, .. } => Some(Open {
            story: story.clone(),
            attempt: *attempt,
        }),
        What::AttemptEnded { .. } | What::RunEnded { .. } => None,
        _ => left,
    })
}

fn last_run(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| match &event.what {
        What::RunBegan { run, .. } => Some(run.as_str()),
        _ => None,
    })
}

/// Looks at the plan's file before anybody reads it: an executor that killed its run may have changed it, too.
///
/// # Errors
/// When it did, or a person, and nobody said what is to become of it.
pub fn plan_after_a_kill(place: &Place, said: Option<Interrupted>) -> Result<(), StoriesError> {
    let (events, name) = (events(place)?, place.name());
    let (Some(open), Some(right)) = (left(&events), replay(&events, &name)) else {
        return Ok(());
    };
    let bytes = fs::read(&place.plan).map_err(StoriesError::io(&place.plan))?;
    let there = document(&bytes).ok();
    let is_behind = |there: &Json| one_behind(there, &events, &name).is_some();
    if there.as_ref() == Some(&right) || there.as_ref().is_some_and(is_behind) {
        return Ok(());
    }
    match said {
        Some(Interrupted::Keep) => Ok(()),
        None => Err(StoriesError::Undecided {
            story: open.story,
            attempt: open.attempt,
        }),
        Some(Interrupted::Restore) => {
            let edited = place.new_file(&open.story, open.attempt, "plan.json");
            write_bytes(&edited, &bytes, Sync::Now).map_err(StoriesError::io(&edited))?;
            let written = write_bytes(&place.plan, right.pretty().as_bytes(), Sync::Now);
            written.map_err(StoriesError::io(&place.plan))
        }
    }
}

impl Runner<'_> {
    /// Puts in order what a killed run left.
    pub async fn recover(
        &mut self,
        events: &[Event],
        said: Option<Interrupted>,
    ) -> Result<(), StoriesError> {
        let Some(open) = left(events) else {
            return Ok(());
        };
        if let Some(run) = last_run(events) {
            reap_marked(RUN, run, GRACE).await;
        }
        let before = Before::read(&self.place.before(), &self.areas, &open.story, open.attempt)?;
        let over = Over {
            story: open.story.clone(),
            attempt: open.attempt,
            outcome: Outcome::Interrupted,
            why: vec!["the run was killed".to_owned()],
            ended_by: "the run was killed".to_owned(),
            took: Duration::ZERO,
            changed: 0,
        };
        let Some(before) = before.filter(|_| said != Some(Interrupted::Keep)) else {
            return self.write_down(over, None, Vec::new(), None);
        };
        let refs = self.refs().await?;
        if refs != before.refs && said.is_none() {
            let Open { story, attempt } = open;
            return Err(StoriesError::Undecided { story, attempt });
        }
        let (story, attempt) = (open.story, open.attempt);
        (self.told)(Told::Note(format!(
            "attempt {attempt} of {story} was killed: what it changed is undone, and kept in {}",
            self.place.attempts().display()
        )));
        self.undone(&before, refs.as_ref(), over).await?;
        Before::forget(&self.place.before());
        Ok(())
    }
}
