//! What goes wrong again and again, in few lines.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long nothing more is said of it.
const QUIET: Duration = Duration::from_secs(60);

/// Something that anybody can make go wrong as often as they like: the log gets a line when it begins, and then at
/// most one a minute with how often it was.
#[derive(Debug, Default)]
pub struct Often(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    said: Option<Instant>,
    unsaid: u64,
}

impl Often {
    /// It went wrong once more. How often since it was said last, where it is to be said now.
    pub fn again(&self, now: Instant) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.unsaid += 1;
        count.due(now)
    }

    /// It did not go wrong. How often it did that nobody was told of, where that is to be said now.
    pub fn rest(&self, now: Instant) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match count.unsaid {
            0 => None,
            _ => count.due(now),
        }
    }
}

impl Count {
    fn due(&mut self, now: Instant) -> Option<u64> {
        let waits = |said: Instant| now.duration_since(said) < QUIET;
        if self.said.is_some_and(waits) {
            return None;
        }
        self.said = Some(now);
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_said_and_then_one_line_a_minute_has_the_rest() {
        let (often, start) = (Often::default(), Instant::now());
        let at = |second: u64| start + Duration::from_secs(second);
        assert_eq!(often.again(at(0)), Some(1));
        for second in 1..60 {
            assert_eq!(often.again(at(second)), None, "{second}");
        }
        assert_eq!(often.rest(at(59)), None, "not yet");
        assert_eq!(often.again(at(60)), Some(60));
        assert_eq!(often.rest(at(300)), None, "all was said");
        assert_eq!(often.again(at(300)), Some(1), "it begins anew");
        assert_eq!(often.again(at(301)), None);
        assert_eq!(often.rest(at(361)), Some(1), "what is left");
    }
}
