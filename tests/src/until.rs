//! Waiting for something to become so, never for time to pass.

use std::env;
use std::time::{Duration, Instant};

/// Far beyond what anything takes on a slow machine that is shared.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// The variable that says how many times as long everything takes here, where the processor is emulated.
pub const SLOWER: &str = "CARSON_TEST_SLOWER";

/// Looks again and again until there is an answer.
///
/// # Panics
/// When there is none after a minute, or as many times that as it is slower here; `what` says what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let slower = env::var(SLOWER).map_or(1, |times| times.parse().unwrap_or(1));
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            started.elapsed() < PATIENCE * slower,
            "waited in vain: {what}"
        );
        std::thread::sleep(PAUSE * slower);
    }
}
