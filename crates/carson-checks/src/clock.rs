//! Whether the clock can be believed.

use carson_core::cadence::CLOCK_MENDED;
use chrono::{DateTime, Datelike, TimeDelta, Utc};

use crate::{Machine, Scene, Verdict};

/// No Carson is older.
const FIRST_YEAR: i32 = 2026;
/// Certificates and databases have trouble with what comes later.
const LAST_YEAR: i32 = 2100;

pub(crate) async fn year(machine: &Machine) -> Option<Verdict> {
    Some(plausible(machine.clock.now()))
}

fn plausible(now: DateTime<Utc>) -> Verdict {
    let shown = now.format("%Y-%m-%d %H:%M UTC");
    match now.year() {
        FIRST_YEAR..LAST_YEAR => Verdict::ok(format!("it is {shown}")),
        _ => Verdict::error(format!("the clock shows {shown}, which cannot be")),
    }
}

/// Being behind stops nothing: after a correction, cadences begin anew from what the clock shows.
pub(crate) async fn order(scene: &Scene<'_>) -> Option<Verdict> {
    if scene.database.is_some() {
        return None;
    }
    let now = scene.home.clock.now();
    match scene.home.store.clock_apart(now).await {
        Ok(Some(ahead)) => return Some(apart(ahead)),
        Err(error) => return Some(Verdict::error(error.to_string()).mend(error.hint())),
        Ok(None) => {}
    }
    Some(match scene.home.store.newest_claim().await {
        Ok(Some(newest)) => after(newest, now),
        Ok(None) => Verdict::ok("nothing was fired before"),
        Err(error) => Verdict::error(error.to_string()).mend(error.hint()),
    })
}

fn apart(ahead: TimeDelta) -> Verdict {
    Verdict::error(format!(
        "it is {} the clock of the database: slots would come due twice",
        carson_store::off(ahead)
    ))
}

fn after(newest: DateTime<Utc>, now: DateTime<Utc>) -> Verdict {
    let behind = newest - now;
    if behind <= CLOCK_MENDED {
        return Verdict::ok("it is later than every firing");
    }
    Verdict::warning(format!(
        "it is {} min before the newest firing, of {}",
        behind.num_minutes(),
        newest.format("%Y-%m-%d %H:%M UTC")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn years_have_two_ends() {
        let judge = |text: &str| plausible(text.parse().unwrap()).health;
        assert_eq!(judge("1970-01-01T00:00:00Z"), Health::Error);
        assert_eq!(judge("2025-12-31T23:59:59Z"), Health::Error);
        assert_eq!(judge("2026-01-01T00:00:00Z"), Health::Ok);
        assert_eq!(judge("2099-12-31T23:59:59Z"), Health::Ok);
        assert_eq!(judge("2100-01-01T00:00:00Z"), Health::Error);
        assert_eq!(judge("9999-01-01T00:00:00Z"), Health::Error);
    }

    #[test]
    fn being_behind_is_told_and_a_mended_moment_is_not() {
        let now: DateTime<Utc> = "2026-11-21T12:00:00Z".parse().unwrap();
        assert_eq!(after(now, now).health, Health::Ok);
        assert_eq!(after(now + CLOCK_MENDED, now).health, Health::Ok);
        let behind = after(now + CLOCK_MENDED + TimeDelta::hours(2), now);
        assert_eq!(behind.health, Health::Warning);
        assert!(behind.found.contains("min before the newest firing"));
    }
}
