//! Which slot of a role is due.
//!
//! A *slot* is one instant at which a role's cron lines say "now". The calendar is computed in
//! the role's own zone on every call, so a change of daylight-saving time or of the zone database
//! needs no bookkeeping. What happens on the two odd days a year is croner's documented rule,
//! pinned by tests here: a time that does not exist fires once, at the first instant after the
//! gap; a time that exists twice fires once, the first time; a wildcard hour fires in both.
//!
//! Nothing is remembered but the last claimed slot. After a sleep, a restart or a day without
//! power, [`Cadence::due`] names the newest missed slot and says how many it stands for.

mod line;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use croner::Cron;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Missed slots are counted up to here: a role that fires every second may have been away for a
/// month.
pub const MISSED_MAX: u32 = 1_000;

/// A clock that is set back by less was mended, not moved: what has happened stays as it was.
pub const CLOCK_MENDED: TimeDelta = TimeDelta::seconds(60);

/// How late a slot may be taken when the role does not catch up: enough for a busy machine.
const PUNCTUAL: TimeDelta = TimeDelta::seconds(60);

/// What to do about slots that passed while nobody was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CatchUp {
    /// One firing stands for all of them, if the newest is younger than `max_late`.
    #[default]
    One,
    /// They are gone.
    None,
}

/// A role's cron lines in its zone, with its rules for lateness.
#[derive(Clone, Debug)]
pub struct Cadence {
    lines: Vec<Arc<Cron>>,
    zone: Tz,
    catch_up: CatchUp,
    max_late: TimeDelta,
    splay: TimeDelta,
    /// The most slots of a day, and the day on which they were counted: that takes a while for a busy role.
    counted: Arc<Mutex<Option<(NaiveDate, u32)>>>,
}

/// A cron line that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line:?} is not a cron line: {why}")]
pub struct CadenceError {
    /// The line as it was given.
    pub line: String,
    /// What is wrong, by field.
    pub why: String,
}

/// The newest slot that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The instant the calendar names.
    pub slot: DateTime<Utc>,
    /// The instant at which it is due: the slot with the role's share of the splay.
    pub at: DateTime<Utc>,
    /// Older slots that this one stands for, up to [`MISSED_MAX`].
    pub missed: u32,
    /// Whether it is too old to become a firing.
    pub too_late: bool,
}

impl Cadence {
    /// Reads cron lines of five fields, or six with seconds first.
    ///
    /// # Errors
    /// The first line that is not one.
    pub fn parse<S: AsRef<str>>(lines: &[S], zone: Tz) -> Result<Self, CadenceError> {
        let lines = lines
            .iter()
            .map(|line| line::parse(line.as_ref()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            lines,
            zone,
            catch_up: CatchUp::One,
            max_late: TimeDelta::hours(6),
            splay: TimeDelta::zero(),
            counted: Arc::default(),
        })
    }

    /// A role that is never due.
    #[must_use]
    pub fn never(zone: Tz) -> Self {
        Self {
            lines: Vec::new(),
            zone,
            catch_up: CatchUp::None,
            max_late: TimeDelta::zero(),
            splay: TimeDelta::zero(),
            counted: Arc::default(),
        }
    }

    /// Sets what happens to missed slots, and how old one may be (`max_late`).
    #[must_use]
    pub fn catching_up(mut self, catch_up: CatchUp, max_late: Duration) -> Self {
        self.catch_up = catch_up;
        self.max_late = TimeDelta::from_std(max_late).unwrap_or(TimeDelta::MAX);
        self
    }

    /// Delays every firing by a part of `splay` that is always the same for one `seed` (the
    /// role's name), so that a herd of roles at `0 * * * *` does not start in one second.
    #[must_use]
    pub fn splayed(mut self, splay: Duration, seed: &str) -> Self {
        let span = u64::try_from(splay.as_millis()).unwrap_or(u64::MAX);
        let part = if span == 0 { 0 } else { fnv1a(seed) % span };
        self.splay = TimeDelta::milliseconds(i64::try_from(part).unwrap_or(0));
        self
    }

    /// The zone of the role's day.
    #[must_use]
    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// The newest slot that is due at `now` and lies after `reference`: the last slot that was
    /// claimed, or, for a role that never fired, the time since when it exists.
    #[must_use]
    pub fn due(&self, reference: DateTime<Utc>, now: DateTime<Utc>) -> Option<Due> {
        let now = now - self.splay;
        let slot = self.newest(reference, now)?;
        let late = now - slot;
        let too_late = match self.catch_up {
            CatchUp::One => late > self.max_late.max(PUNCTUAL),
            CatchUp::None => late > PUNCTUAL,
        };
        Some(Due {
            slot,
            at: slot + self.splay,
            missed: self.count(reference, slot),
            too_late,
        })
    }

    /// Whether it has no slot at all, as on a 30th of February. No line names a year.
    #[must_use]
    pub fn is_never(&self) -> bool {
        self.next_slot(DateTime::UNIX_EPOCH).is_none()
    }

    /// When to look again: the first instant after `now` at which a slot becomes due.
    #[must_use]
    pub fn next_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.next_slot(now - self.splay)
            .map(|slot| slot + self.splay)
    }

    /// The most slots of one day, of the eight from the next slot on; counted once a day.
    #[must_use]
    pub fn most_in_a_day(&self, now: DateTime<Utc>) -> u32 {
        let today = now.date_naive();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match *counted {
            Some((day, most)) if day == today => most,
            _ => {
                let most = self.count_days(now);
                *counted = Some((today, most));
                most
            }
        }
    }

    fn count_days(&self, now: DateTime<Utc>) -> u32 {
        const MINUTES: u32 = 24 * 60;
        let day = TimeDelta::days(1);
        let mut most = 0;
        let Some(first) = self.next_slot(now) else {
            return 0;
        };
        let before = first - TimeDelta::seconds(1);
        for from in (0..8).map(|days| before + day * days) {
            let (mut at, mut slots) = (from, 0);
            while let Some(slot) = self.next_slot(at)
                && slot <= from + day
                && slots < MINUTES
            {
                (at, slots) = (slot, slots + 1);
            }
            if slots == MINUTES {
                // One that fires by the second is taken to go on as it began, rather than counted to its end.
                let begun = self.next_slot(from).unwrap_or(from);
                let took = (at - begun).num_seconds().clamp(1, day.num_seconds());
                let rate = i64::from(MINUTES - 1) * day.num_seconds() / took;
                return u32::try_from(rate).unwrap_or(u32::MAX);
            }
            most = most.max(slots);
        }
        most
    }

    /// The slot in words, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(|line| line.describe()).collect();
        lines.join("; ")
    }

    /// The first slot strictly after `at`.
    fn next_slot(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let local = at.with_timezone(&self.zone);
        self.lines
            .iter()
            .filter_map(|cron| cron.find_next_occurrence(&local, false).ok())
            .map(|slot| slot.with_timezone(&Utc))
            // Croner works in whole seconds; what it finds for 12:00:00.5 may be 12:00:00.
            .filter(|slot| *slot > at)
            .min()
    }

    /// The newest slot in `(after, until]`. Looks back through growing windows, so the cost does
    /// not depend on how long nobody was there.
    fn newest(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        const WINDOWS_S: [i64; 6] = [60, 3_600, 86_400, 32 * 86_400, 366 * 86_400, 3_660 * 86_400];
        for window in WINDOWS_S {
            let start = after.max(until - TimeDelta::seconds(window));
            let mut newest = None;
            let mut at = start;
            while let Some(slot) = self.next_slot(at).filter(|slot| *slot <= until) {
                newest = Some(slot);
                at = slot;
            }
            if newest.is_some() || start == after {
                return newest;
            }
        }
        None
    }

    /// Slots strictly between `after` and `slot`.
    fn count(&self, after: DateTime<Utc>, slot: DateTime<Utc>) -> u32 {
        let (mut at, mut missed) = (after, 0);
        while missed < MISSED_MAX {
            match self.next_slot(at).filter(|next| *next < slot) {
                Some(next) => (at, missed) = (next, missed + 1),
                None => break,
            }
        }
        missed
    }
}

/// FNV-1a: the same number for the same name on every host and in every release.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
