//! The wall clock as a value.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

/// Tells the wall-clock time. Calendars (slots, days, resets) use it; durations and deadlines use
/// [`std::time::Instant`], which does not jump.
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(Arc<Mutex<DateTime<Utc>>>),
}

impl Clock {
    /// The machine's own clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still at `at` until it is [`set`](Self::set).
    #[must_use]
    pub fn manual(at: DateTime<Utc>) -> Self {
        Self(Source::Manual(Arc::new(Mutex::new(at))))
    }

    /// The time now, cut to microseconds: what both databases keep, so that a time that was stored
    /// and read again is equal to itself.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        let now = match &self.0 {
            #[expect(clippy::disallowed_methods, reason = "this is the clock")]
            Source::System => Utc::now(),
            Source::Manual(at) => *at.lock().unwrap_or_else(PoisonError::into_inner),
        };
        DateTime::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
    }

    /// Moves a manual clock; a system clock stays where it is.
    pub fn set(&self, to: DateTime<Utc>) {
        if let Source::Manual(at) = &self.0 {
            *at.lock().unwrap_or_else(PoisonError::into_inner) = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_until_set_and_is_shared() {
        let start = DateTime::from_timestamp(1_000, 1_999).unwrap();
        let clock = Clock::manual(start);
        let other = clock.clone();
        assert_eq!(clock.now(), DateTime::from_timestamp(1_000, 1_000).unwrap());
        let later = DateTime::from_timestamp(2_000, 0).unwrap();
        other.set(later);
        assert_eq!(clock.now(), later);
    }

    #[test]
    fn the_system_clock_moves_and_cannot_be_set() {
        let clock = Clock::system();
        let before = clock.now();
        clock.set(DateTime::from_timestamp(0, 0).unwrap());
        assert!(clock.now() >= before);
    }
}
