//! What events come to.

use chrono::{DateTime, Utc};

use crate::digest::Digest;
use crate::event::{Ended, Event, Happened};
use crate::meta::{Checked, Meta, Outcome};
use crate::progress::Trace;
use crate::state::State;
use crate::status::Status;

impl State {
    /// What these events come to.
    #[must_use]
    pub fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        events.iter().for_each(|event| state.take(event));
        state
    }

    /// Takes the next event in.
    pub fn take(&mut self, event: &Event) {
        self.events += 1;
        self.updated_at = Some(event.at);
        match &event.what {
            Happened::Adopted { state } => {
                let events = self.events;
                *self = (**state).clone();
                self.events = events;
            }
            Happened::Started {
                max_attempts,
                subject,
                ..
            } => {
                self.status = Status::Running;
                self.max_attempts = *max_attempts;
                self.subject = Some(*subject);
                self.reason = None;
                self.ended_at = None;
                self.started_at.get_or_insert(event.at);
            }
            Happened::More { attempts, .. } => {
                self.max_attempts = self.attempt.saturating_add(*attempts);
                self.judged_from = self.last_attempt;
                self.elapsed_ms = 0;
            }
            Happened::Checked { check, elapsed_ms } => self.checked(check, *elapsed_ms),
            Happened::AttemptStarted { attempt, .. } => self.last_attempt = *attempt,
            Happened::AttemptEnded { meta, elapsed_ms } => {
                self.elapsed_ms = *elapsed_ms;
                self.last_attempt = self.last_attempt.max(meta.attempt);
                self.attempt += u32::from(counts(meta.outcome));
                if meta.output_hash.is_some() {
                    self.last_output_hash = meta.output_hash;
                }
                if let Some(check) = &meta.check {
                    self.promise_fulfilled = check.passed;
                }
            }
            Happened::Doubted { found } => self.reason = Some(found.to_string()),
            Happened::ConfigChanged { max_attempts, .. } => self.max_attempts = *max_attempts,
            Happened::StateEdited {
                status,
                attempt,
                max_attempts,
            } => {
                self.status = *status;
                self.attempt = *attempt;
                self.max_attempts = *max_attempts;
                self.judged_from = self.last_attempt;
            }
            Happened::RolledBack {
                attempt, changed, ..
            } => self.rolled_back(*attempt, *changed),
            Happened::StopAsked { .. } => {}
            Happened::Ended { how } => self.ended(how, event.at),
        }
    }

    fn checked(&mut self, check: &Checked, elapsed_ms: u64) {
        self.promise_fulfilled = check.passed;
        self.elapsed_ms = elapsed_ms;
    }

    /// What was kept with another tree is nothing that may be said of this one: the next run asks. One that ran died, as
    /// nobody brings a tree back while it runs.
    fn rolled_back(&mut self, attempt: u32, changed: u64) {
        let was_kept = matches!(self.status, Status::Done | Status::AlreadyDone);
        if self.status != Status::Running && !(was_kept && changed > 0) {
            return;
        }
        self.status = Status::Idle;
        self.promise_fulfilled = false;
        self.reason = Some(match attempt {
            0 => "the tree was brought back to before the first attempt".to_owned(),
            n => format!("the tree was brought back to where attempt {n} left it"),
        });
    }

    fn ended(&mut self, how: &Ended, at: DateTime<Utc>) {
        self.status = how.status;
        self.reason = Some(how.reason.clone());
        self.elapsed_ms = how.elapsed_ms;
        self.ended_at = Some(at);
    }
}

/// So many attempts a run that goes on may make in all. What somebody said since for this run alone holds: `--more`, or
/// `max_attempts` in the state's file; until `config.json` says another number than it did then.
#[must_use]
pub fn bound(events: &[Event], configured: u32) -> u32 {
    let (mut state, mut said, mut then) = (State::default(), None, configured);
    for event in events {
        let before = state.max_attempts;
        state.take(event);
        match &event.what {
            Happened::Started { configured, .. } => then = configured.unwrap_or(then),
            Happened::More { .. } => said = Some(state.max_attempts),
            Happened::StateEdited { max_attempts, .. } if *max_attempts != before => {
                said = Some(*max_attempts);
            }
            Happened::ConfigChanged { keys, max_attempts } if has_attempts(keys) => {
                (said, then) = (None, *max_attempts);
            }
            Happened::Ended { .. } => said = None,
            _ => {}
        }
    }
    said.filter(|_| then == configured).unwrap_or(configured)
}

/// So many attempts may be made by what somebody said last: the run that was last, or `config.json` where it changed since.
#[must_use]
pub fn may_be_made(events: &[Event], known: u32, configured: u32) -> u32 {
    let then = events.iter().rev().find_map(|event| match &event.what {
        Happened::Started { configured, .. } => *configured,
        Happened::ConfigChanged { keys, max_attempts } if has_attempts(keys) => Some(*max_attempts),
        _ => None,
    });
    match then {
        Some(then) if then != configured => configured,
        _ => known,
    }
}

/// Whether the number of attempts is among the keys of a configuration that changed.
#[must_use]
pub fn has_attempts(keys: &[String]) -> bool {
    keys.iter().any(|key| key == "max_attempts")
}

/// The attempts that are held against each other, of the events of a run.
#[must_use]
pub fn traces(events: &[Event]) -> Vec<Trace> {
    let from = State::of(events).judged_from;
    let ended = events.iter().filter_map(|event| match &event.what {
        Happened::AttemptEnded { meta, .. } => Some(&**meta),
        _ => None,
    });
    let is_whole = |meta: &&Meta| counts(meta.outcome) && meta.outcome != Outcome::Interrupted;
    let counted = ended.filter(|meta| meta.attempt > from).filter(is_whole);
    counted.map(Meta::trace).collect()
}

/// Whether an attempt that ended so is one of those that may be made.
fn counts(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Stopped | Outcome::Unable)
}

/// An attempt that began, and of which nobody knows how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number.
    pub attempt: u32,
    /// When it began.
    pub at: DateTime<Utc>,
    /// The task and what it was told.
    pub prompt_hash: Digest,
    /// The tree as it found it.
    pub tree_before_hash: Digest,
}

/// The attempt that was under way when the events ended.
#[must_use]
pub fn interrupted(events: &[Event]) -> Option<Begun> {
    let at = |event: &Event| match &event.what {
        Happened::AttemptStarted {
            attempt,
            prompt_hash,
            tree_before_hash,
        } => Some(Begun {
            attempt: *attempt,
            at: event.at,
            prompt_hash: *prompt_hash,
            tree_before_hash: *tree_before_hash,
        }),
        _ => None,
    };
    let ended = |event: &&Event| matches!(event.what, Happened::AttemptEnded { .. });
    let since = events.iter().rev().take_while(|event| !ended(event));
    since.filter_map(at).next()
}
