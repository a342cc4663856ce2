//! What is believed and contradicted: by the code, or by a check. A person decides whether it is still so.

use std::collections::BTreeMap;

use carson_core::lesson::{Evidence, LessonId, LessonSource, LessonState};
use carson_core::{Event, RepoName};
use carson_home::Home;
use carson_memory::canon::canon;
use carson_memory::refuted::{Ended, refuted};
use carson_store::{Change, Decided, Found, LessonFilter, LessonRow, StoreError};
use chrono::TimeDelta;

use super::evidence::{Look, file_pieces};
use super::harvested::{ROWS, failure};

/// Lessons that one look reads at a time, and as many times at most.
const PAGE: u32 = 500;
const PAGES: u32 = 4;
/// How far back firings are looked at whose check passed.
const WITHIN: TimeDelta = TimeDelta::days(30);

/// Holds what is believed and contradicted; which.
///
/// # Errors
/// When the store does not answer.
pub(super) async fn hold_contradicted(home: &Home) -> Result<Vec<LessonId>, StoreError> {
    let now = home.clock.now();
    let mut filter = LessonFilter {
        state: Some(LessonState::Promoted),
        after: Some(0),
        ..LessonFilter::all(now, PAGE)
    };
    let mut looks: BTreeMap<Option<RepoName>, Look<'_>> = BTreeMap::new();
    let mut ended = None;
    let mut held = Vec::new();
    for _ in 0..PAGES {
        let rows = home.store.lessons(&filter).await?;
        let Some(last) = rows.last() else { break };
        filter.after = Some(last.seq);
        for row in rows {
            let evidence = home.store.lesson_evidence(row.seq).await?;
            let mut why = by_the_code(home, &row, &evidence, &mut looks).await;
            if why.is_none() && row.lesson.source == LessonSource::Harvest {
                if ended.is_none() {
                    ended = Some(lately_ended(home).await?);
                }
                let ended = ended.as_deref().unwrap_or_default();
                why = by_a_check(home, &evidence, ended).await?;
            }
            if let Some(why) = why
                && let Some(event) = hold(home, &row, &why).await?
            {
                home.store.event(&event, None, None, now).await?;
                held.push(row.lesson.id);
            }
        }
    }
    Ok(held)
}

/// Whether a file that it rests on is gone.
async fn by_the_code<'h>(
    home: &'h Home,
    row: &LessonRow,
    evidence: &[Evidence],
    looks: &mut BTreeMap<Option<RepoName>, Look<'h>>,
) -> Option<String> {
    if !evidence
        .iter()
        .any(|one| matches!(one, Evidence::File { .. }))
    {
        return None;
    }
    let repo = &row.lesson.repo;
    if !looks.contains_key(repo) {
        let look = Look::fetched(home, repo.as_ref()).await;
        looks.insert(repo.clone(), look);
    }
    let pieces = file_pieces(looks.get(repo)?, evidence).await;
    canon(row.now.confidence, &pieces).err()
}

/// Whether the check of the firings that it rests on passes by now.
async fn by_a_check(
    home: &Home,
    evidence: &[Evidence],
    ended: &[Ended],
) -> Result<Option<String>, StoreError> {
    let mut failures = Vec::new();
    for one in evidence {
        if let Evidence::Firing(id) = one
            && let Found::One(row) = home.store.find_firing(id).await?
        {
            failures.extend(failure(*row));
        }
    }
    Ok(refuted(&failures, ended))
}

async fn lately_ended(home: &Home) -> Result<Vec<Ended>, StoreError> {
    let since = home.clock.now() - WITHIN;
    let rows = home.store.busy_since(since, ROWS).await?;
    let ended = rows.into_iter().filter_map(|row| {
        let passed = row.verified_sha.is_some();
        let end = failure(row)?;
        Some(Ended { end, passed })
    });
    Ok(ended.collect())
}

/// Holds one; the event that says so, unless somebody decided meanwhile, who knows better.
pub(super) async fn hold(
    home: &Home,
    row: &LessonRow,
    why: &str,
) -> Result<Option<Event>, StoreError> {
    let lesson = row.lesson.id;
    let held = Change {
        n: row.now.n + 1,
        at: home.clock.now(),
        state: LessonState::Held,
        valid: None,
        confidence: row.now.confidence,
        by: "carson".to_owned(),
        why: format!("contradicted: {why}"),
        undoes: None,
    };
    let done = home.store.change_lesson(lesson, &held).await?;
    Ok((done == Decided::Done).then_some(Event::MemoryDecided {
        lesson,
        state: LessonState::Held,
        why: held.why,
    }))
}
