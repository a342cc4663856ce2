//! What events come to.

use chrono::{DateTime, Utc};

use crate::event::{Ended, Event, Happened};
use crate::meta::{Checked, Outcome};
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
                self.max_attempts = self.max_attempts.saturating_add(*attempts);
                self.judged_from = self.last_attempt;
                self.seconds = 0.0;
            }
            Happened::Checked { check, seconds } => self.checked(check, *seconds),
            Happened::AttemptStarted { attempt, .. } => self.last_attempt = *attempt,
            Happened::AttemptEnded { meta, seconds } => {
                self.seconds = *seconds;
                self.last_attempt = self.last_attempt.max(meta.attempt);
                self.attempt += u32::from(meta.outcome != Outcome::Stopped);
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
            Happened::StopAsked { .. } | Happened::RolledBack { .. } => {}
            Happened::Ended { how } => self.ended(how, event.at),
        }
    }

    fn checked(&mut self, check: &Checked, seconds: f64) {
        self.promise_fulfilled = check.passed;
        self.seconds = seconds;
    }

    fn ended(&mut self, how: &Ended, at: DateTime<Utc>) {
        self.status = how.status;
        self.reason = Some(how.reason.clone());
        self.seconds = how.seconds;
        self.ended_at = Some(at);
    }
}

/// The attempts that are held against each other, of the events of a run.
#[must_use]
pub fn traces(events: &[Event]) -> Vec<Trace> {
    let from = State::of(events).judged_from;
    let ended = events.iter().filter_map(|event| match &event.what {
        Happened::AttemptEnded { meta, .. } => Some(meta),
        _ => None,
    });
    let counted = ended.filter(|meta| meta.attempt > from && meta.outcome != Outcome::Stopped);
    counted.map(|meta| meta.trace()).collect()
}
