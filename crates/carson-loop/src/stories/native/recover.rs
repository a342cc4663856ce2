//! After a run that was killed during an attempt: what it started is ended, what it changed is undone and kept.
//!
//! Files are put back when only files changed. Where refs or the plan are not what they were, nobody can say whether it was
//! the executor or a person: then whoever runs says it.

use std::time::Duration;

use super::attempt::RUN;
use super::before::Before;
use super::error::StoriesError;
use super::event::{Event, Outcome, What};
use super::journal::{LONGEST, document, events, one_behind};
use super::others::Others;
use super::place::Place;
use super::replay::replay;
use super::runner::{Over, Runner};
use super::settings::Interrupted;
use super::told::Told;
use super::written::Status;
use crate::json_file::{Sync, write_bytes};
use crate::lock::Lock;
use crate::run::end_left as end;
use crate::stories::json::Json;
use crate::tree::read_plain;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// An attempt that began and did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    plan: String,
    story: String,
    attempt: u32,
}

/// The attempt that a killed run left, of any plan of the tree.
fn left(events: &[Event]) -> Option<Open> {
    events.iter().fold(None, |left, event| match &event.what {
        What::AttemptBegan { story, attempt, .. } => Some(Open {
            plan: event.plan.clone(),
            story: story.clone(),
            attempt: *attempt,
        }),
        // A run that something kept from going on may have ended in the midst of one.
        What::AttemptEnded { .. } => None,
        _ => left,
    })
}

/// A story whose last attempt decided it, and of which a run that was killed there did not say so.
fn decided(events: &[Event], plan: &str) -> Option<(String, Status)> {
    let own = events.iter().filter(|event| event.plan == plan);
    own.fold(None, |decided, event| match &event.what {
        What::AttemptEnded { story, outcome, .. } => match outcome {
            Outcome::Passed => Some((story.clone(), Status::Passing)),
            Outcome::OutOfScope => Some((story.clone(), Status::Failed)),
            _ => None,
        },
        // A person who edits the plan decides.
        What::StoryEnded { .. } | What::AttemptBegan { .. } | What::Loaded { .. } => None,
        What::RunBegan { .. } | What::RunEnded { .. } => decided,
    })
}

fn last_run(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| match &event.what {
        What::RunBegan { run, .. } => Some(run.as_str()),
        _ => None,
    })
}

/// Ends what a run left running that was killed, before anything is looked at.
///
/// # Errors
/// When its events cannot be read.
pub async fn end_left(place: &Place, lock: &Lock) -> Result<(), StoriesError> {
    let events = events(place)?;
    if let (Some(run), true) = (
        last_run(&events),
        left(&events).is_some() || lock.after().is_some(),
    ) {
        end(RUN, run, &place.mark(), GRACE).await;
    }
    Ok(())
}

/// Looks at the plan's file before anybody reads it: an executor that killed its run may have changed it, too.
///
/// # Errors
/// When it did, or a person, and nobody said what is to become of it; or when it was a run of another plan, which alone
/// says what was before.
pub fn plan_after_a_kill(place: &Place, said: Option<Interrupted>) -> Result<(), StoriesError> {
    let (events, name) = (events(place)?, place.name());
    let Some(open) = left(&events) else {
        return Ok(());
    };
    if open.plan != name {
        let Open {
            plan,
            story,
            attempt,
        } = open;
        return match said {
            Some(Interrupted::Keep) => Ok(()),
            _ => Err(StoriesError::OtherPlan {
                plan,
                story,
                attempt,
            }),
        };
    }
    let Some(right) = replay(&events, &name) else {
        return Ok(());
    };
    let bytes = read_plain(&place.plan, LONGEST).map_err(StoriesError::io(&place.plan))?;
    let bytes = bytes.unwrap_or_default();
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
            let is_open = |story: &str| {
                let story = self.journal.story(story);
                story.is_some_and(|story| story.status == Status::Open)
            };
            let decided = decided(events, &self.place.name());
            return match decided.filter(|(story, _)| is_open(story)) {
                Some((story, status)) => self.journal.add(What::StoryEnded { story, status }),
                None => Ok(()),
            };
        };
        let mut over = Over {
            story: open.story.clone(),
            attempt: open.attempt,
            outcome: Outcome::Interrupted,
            why: vec!["the run was killed".to_owned()],
            ended_by: "the run was killed".to_owned(),
            took: Duration::ZERO,
            changed: 0,
        };
        if said == Some(Interrupted::Keep) {
            return self.write_down(over, None, Vec::new(), None);
        }
        let before = Before::read(&self.place.before(), &self.areas, &open.story, open.attempt)?;
        let Some(before) = before else {
            // It is written before the executor is called: there was no call, or somebody took it away.
            (self.told)(Told::Note(format!(
                "attempt {} of {} was killed, and nothing says what was before it: files stay as they are",
                open.attempt, open.story
            )));
            return self.write_down(over, None, Vec::new(), None);
        };
        // Where git does not answer, the repository is not what it was.
        let refs = self.refs().await.ok().flatten();
        let is_same = match (&before.refs, &refs) {
            (Some(was), Some(now)) => Others::between(was, Some(now)).same(was, now),
            (was, now) => was == now,
        };
        if !is_same && said.is_none() {
            let Open { story, attempt, .. } = open;
            return Err(StoriesError::Undecided { story, attempt });
        }
        let (story, attempt) = (open.story, open.attempt);
        (self.told)(Told::Note(format!(
            "attempt {attempt} of {story} was killed: what it changed is undone, and kept in {}",
            self.place.attempts().display()
        )));
        over.changed = self.changed_since(&before.seen)?;
        let ours = self.place.files_of(&over.story, over.attempt);
        self.undone(&before, refs.as_ref(), over, ours).await?;
        Before::forget(&self.place.before());
        Ok(())
    }
}
