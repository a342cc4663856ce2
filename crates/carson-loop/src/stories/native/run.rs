//! A run: every open story in its turn, each with as many attempts as it gets.
//!
//! It ends: a story that was taken is not taken again, and has at most `max_attempts` calls of the executor, so that `n`
//! stories end after at most `n · max_attempts` of them, each with a time of its own.

use std::collections::BTreeSet;

use super::areas::Areas;
use super::before::Before;
use super::error::StoriesError;
use super::event::{Outcome, What};
use super::journal::{Journal, read_at};
use super::place::Place;
use super::recover::{end_left, plan_after_a_kill};
use super::repo::Repo;
use super::runner::{Given, Runner};
use super::select::open;
use super::settings::{Asked, Settings};
use super::told::{Came, Told};
use super::written::{Mode, Plan, Status, Story};
use crate::digest::Digest;
use crate::executor_version::ExecutorVersion;
use crate::json_file::sweep_dir;
use crate::lock::{Lock, Owner};
use crate::mark::Mark;
use crate::tree::Contents;

/// Does the open stories of a plan, in a process that is the reaper of what it starts
/// ([`carson_proc::become_subreaper`]).
///
/// # Errors
/// When something else than a story keeps it from going on.
pub async fn run(
    place: &Place,
    asked: &Asked,
    given: &Given,
    told: &mut dyn FnMut(Told),
) -> Result<Came, StoriesError> {
    let lock = begin(place, asked, given)?;
    end_left(place, &lock).await?;
    plan_after_a_kill(place, asked.interrupted)?;
    sweep_dir(&place.dir(), 1);
    let mark = place.mark();
    let _mark = Mark::set(&mark).map_err(StoriesError::io(&mark))?;
    let (journal, events) = Journal::open(place, given.caller.clock.clone())?;
    let areas = Areas::of(
        place,
        &journal.plan().scope_ignore,
        given.caller.git_excludes().as_deref(),
    );
    let mut runner = Runner {
        contents: Contents::open(&place.contents())?,
        repo: Repo::of(&place.root, &given.caller.env),
        seen: None,
        unseen: BTreeSet::new(),
        version: ExecutorVersion::default(),
        place,
        given,
        journal,
        areas,
        told,
    };
    runner.recover(&events, asked.interrupted).await?;
    // What a killed attempt did to the policy is undone by now.
    let plan = read_at(place)?.plan;
    let settings = Settings::of(asked, &plan, place)?;
    let done = runner.all(&settings, &lock).await;
    if done.is_ok() {
        // Nobody goes back any more.
        Before::forget(&place.before());
        let _ = std::fs::remove_dir_all(place.contents());
    }
    done
}

/// Takes the lock. A plan that is not right, or does not say what does its stories, leaves nothing behind.
fn begin(place: &Place, asked: &Asked, given: &Given) -> Result<Lock, StoriesError> {
    if !place.dir().is_dir() {
        let plan = read_at(place)?.plan;
        Settings::of(asked, &plan, place)?;
    }
    place.make()?;
    let what = format!("carson stories run {}", place.name());
    let lock = Lock::take(
        &place.lock(),
        &Owner::myself(what, given.caller.clock.now()),
    )?;
    Ok(lock)
}

impl Runner<'_> {
    async fn all(&mut self, settings: &Settings, lock: &Lock) -> Result<Came, StoriesError> {
        let name = name()?;
        self.journal.add(What::RunBegan {
            run: name.clone(),
            executor: self
                .given
                .caller
                .redactor
                .redact(&settings.executor)
                .into_owned(),
            stories: (open(self.journal.plan(), settings.mode).len() as u64).min(settings.stories),
            max_attempts: settings.max_attempts,
            policy_hash: settings
                .policy
                .as_ref()
                .map(|text| Digest::of(text.as_bytes())),
        })?;
        let mut came = Came::default();
        let mut taken = BTreeSet::new();
        let mut blocked = None;
        while let Some(story) = next(self.journal.plan(), settings, &taken) {
            if self.given.cancel.is_cancelled() {
                came.stopped = true;
                break;
            }
            taken.insert(story.id.clone());
            came.taken.push(story.id.clone());
            let (id, title) = (story.id.clone(), story.title.clone());
            (self.told)(Told::Story {
                id: id.clone(),
                title,
            });
            match self.story(&story, settings, &name).await {
                Ok(Status::Passing) => came.passed.push(id),
                Ok(Status::Failed) => came.failed.push(id),
                Ok(_) => came.stopped = true,
                Err(error) => blocked = Some(error),
            }
            if !lock.stands() && blocked.is_none() {
                blocked = Some(StoriesError::Gone {
                    path: self.place.lock(),
                });
            }
            if blocked.is_some() || came.stopped || settings.fail_fast && !came.failed.is_empty() {
                break;
            }
        }
        came.open = open(self.journal.plan(), None).len() as u64;
        if came.taken.is_empty() && blocked.is_none() && !came.stopped {
            came.given_up = failed(self.journal.plan(), settings.mode);
        }
        self.journal.add(What::RunEnded {
            taken: came.taken.len() as u64,
            passed: came.passed.len() as u64,
            open: came.open,
        })?;
        blocked.map_or(Ok(came), Err)
    }

    /// One story, to its end: open only when the run was stopped.
    async fn story(
        &mut self,
        story: &Story,
        settings: &Settings,
        run: &str,
    ) -> Result<Status, StoriesError> {
        let mut status = Status::Failed;
        for _ in 0..settings.max_attempts {
            // Its attempts have been counted since.
            let Some(story) = self.journal.story(&story.id).cloned() else {
                break;
            };
            match self.attempt(&story, settings, run).await? {
                Outcome::Passed => {
                    status = Status::Passing;
                    break;
                }
                Outcome::Interrupted => return Ok(Status::Open),
                // Another call would do the same, or worse.
                Outcome::OutOfScope => break,
                Outcome::Unable => return Err(self.unable(settings)),
                Outcome::ToolFailed
                | Outcome::TimedOut
                | Outcome::Missing
                | Outcome::PromiseFailed => {}
            }
        }
        let id = story.id.clone();
        self.journal.add(What::StoryEnded {
            story: id.clone(),
            status,
        })?;
        (self.told)(Told::Ended { id, status });
        Ok(status)
    }

    fn unable(&self, settings: &Settings) -> StoriesError {
        StoriesError::Unable {
            what: settings.executor.clone(),
            said: "a shell ends so (126, 127) with a program that is not there, or may not be run"
                .to_owned(),
        }
    }
}

/// How many stories of a mode, or of all, were given up.
fn failed(plan: &Plan, mode: Option<Mode>) -> u64 {
    let all = plan.stories.iter();
    let of_it = all.filter(|story| mode.is_none_or(|mode| story.mode == mode));
    of_it.filter(|story| story.status == Status::Failed).count() as u64
}

/// The first open story that was not taken yet.
fn next(plan: &Plan, settings: &Settings, taken: &BTreeSet<String>) -> Option<Story> {
    let may_go_on = (taken.len() as u64) < settings.stories;
    let next = open(plan, settings.mode)
        .into_iter()
        .find(|story| !taken.contains(&story.id));
    next.filter(|_| may_go_on).cloned()
}

/// A name that no other run has.
fn name() -> Result<String, StoriesError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| StoriesError::Unable {
        what: "the system's random numbers".to_owned(),
        said: error.to_string(),
    })?;
    Ok(format!("{:016x}", u64::from_be_bytes(random)))
}
