//! Waiting for something to become so, never for time to pass.

use std::time::{Duration, Instant};

/// Far beyond what anything takes on a slow machine that is shared.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until there is an answer.
///
/// # Panics
/// When there is none after a minute; `what` says what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
