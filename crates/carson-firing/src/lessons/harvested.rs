//! Failures that came again become candidates, once.

use carson_core::lesson::LessonId;
use carson_home::Home;
use carson_memory::harvest::{self, Failure, WITHIN};
use carson_store::{Firing as Row, StoreError};

/// Firings that are looked at.
const ROWS: u32 = 5_000;

/// Writes down what failed again and again lately, and is not there yet.
///
/// # Errors
/// When the store does not answer.
pub async fn harvest(home: &Home) -> Result<Vec<LessonId>, StoreError> {
    let now = home.clock.now();
    let rows = home.store.busy_since(now - WITHIN, ROWS).await?;
    let failures: Vec<Failure> = rows.into_iter().filter_map(failure).collect();
    let mut made = Vec::new();
    for candidate in harvest::harvest(&failures, now) {
        if candidate.check().is_err() {
            continue;
        }
        let (lesson, first) = candidate.recorded(&home.redactor, now);
        if !home.store.lessons_alike(&lesson.digest).await?.is_empty() {
            continue;
        }
        if home.store.record_lesson(&lesson, &[first]).await? {
            made.push(lesson.id);
        }
    }
    Ok(made)
}

fn failure(row: Row) -> Option<Failure> {
    Some(Failure {
        firing: row.id,
        role: row.role,
        repo: row.repo?,
        outcome: row.outcome?,
        reason: row.reason?,
        at: row.ended_at?,
    })
}
