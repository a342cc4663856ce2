//! Failures that came again become candidates, once.

use carson_core::Event;
use carson_core::lesson::LessonId;
use carson_home::Home;
use carson_memory::candidate::Candidate;
use carson_memory::harvest::{self, Failure, WITHIN};
use carson_store::{Firing as Row, StoreError};

/// Firings that are looked at.
pub(super) const ROWS: u32 = 5_000;

/// Writes down what failed again and again lately, and is not there yet.
///
/// # Errors
/// When the store does not answer.
pub(super) async fn harvest(home: &Home) -> Result<Vec<LessonId>, StoreError> {
    let now = home.clock.now();
    let rows = home.store.busy_since(now - WITHIN, ROWS).await?;
    let failures: Vec<Failure> = rows.into_iter().filter_map(failure).collect();
    let mut made = Vec::new();
    for candidate in harvest::harvest(&failures, now) {
        made.extend(write_down(home, candidate).await?);
    }
    Ok(made)
}

/// Writes one down, unless it has not the form of a lesson, or one that says the same is there.
pub(super) async fn write_down(
    home: &Home,
    candidate: Candidate,
) -> Result<Option<LessonId>, StoreError> {
    if candidate.check().is_err() {
        return Ok(None);
    }
    let now = home.clock.now();
    let (lesson, first) = candidate.recorded(&home.redactor, now);
    let is_known = !home.store.lessons_alike(&lesson.digest).await?.is_empty();
    if is_known || !home.store.record_lesson(&lesson, &[first]).await? {
        return Ok(None);
    }
    let event = Event::MemoryProposed { lesson: lesson.id };
    home.store.event(&event, None, None, now).await?;
    Ok(Some(lesson.id))
}

/// A firing that ended in a repository, and how.
pub(super) fn failure(row: Row) -> Option<Failure> {
    Some(Failure {
        firing: row.id,
        role: row.role,
        repo: row.repo?,
        outcome: row.outcome?,
        reason: row.reason?,
        at: row.ended_at?,
    })
}
