//! Finding lessons by what they are.

use carson_core::FiringId;
use carson_core::lesson::{Evidence, LessonId, LessonSource, LessonState, Scope};
use chrono::{DateTime, Utc};
use sqlx::{query_as, query_scalar};
use uuid::Uuid;

use super::rows::{LessonFound, LessonRaw, LessonRow, select_lesson};
use crate::db::{Db, Store, on};
use crate::error::StoreError;

/// The shortest part of an id that names a lesson.
const SHORTEST: usize = 4;

/// Bytes that are kept of evidence that is none any more.
const NOTE: usize = 900;

/// Which lessons to list; the newest come first.
#[derive(Clone, Debug)]
pub struct LessonFilter {
    /// Only in this state.
    pub state: Option<LessonState>,
    /// Only from there.
    pub source: Option<LessonSource>,
    /// Only of this scope.
    pub scope: Option<Scope>,
    /// Only what a session of this firing proposed.
    pub firing: Option<FiringId>,
    /// Only proposed since then.
    pub since: Option<DateTime<Utc>>,
    /// By what was known when.
    pub known_at: DateTime<Utc>,
    /// The oldest first, from behind this place among all lessons.
    pub after: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

impl LessonFilter {
    /// All that is known now, up to so many.
    #[must_use]
    pub fn all(now: DateTime<Utc>, limit: u32) -> Self {
        Self {
            state: None,
            source: None,
            scope: None,
            firing: None,
            since: None,
            known_at: now,
            after: None,
            limit,
        }
    }
}

impl Store {
    /// Lessons by a filter.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons(&self, filter: &LessonFilter) -> Result<Vec<LessonRow>, StoreError> {
        macro_rules! listed {
            ($sql:expr $(, $after:expr)?) => {
                on!(self, |pool| query_as($sql)
                    .bind(filter.known_at)
                    .bind(filter.state.map(LessonState::as_str))
                    .bind(filter.source.map(LessonSource::as_str))
                    .bind(filter.firing.map(|id| id.uuid()))
                    .bind(filter.since)
                    .bind(i64::from(filter.limit))
                    .bind(filter.scope.as_ref().map(ToString::to_string))
                    $(.bind($after))?
                    .fetch_all(pool)
                    .await?)
            };
        }
        let rows: Vec<LessonRaw> = if let Some(after) = filter.after {
            listed!(
                select_lesson!(
                    "FROM lesson l JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                 (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $1) \
                 WHERE ($2 IS NULL OR c.state = $2) AND ($3 IS NULL OR l.source = $3) \
                 AND ($4 IS NULL OR l.firing = $4) AND ($5 IS NULL OR l.recorded_at >= $5) \
                 AND ($7 IS NULL OR l.scope = $7) AND l.seq > $8 ORDER BY l.seq LIMIT $6"
                ),
                after
            )
        } else {
            listed!(select_lesson!(
                "FROM lesson l JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                 (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $1) \
                 WHERE ($2 IS NULL OR c.state = $2) AND ($3 IS NULL OR l.source = $3) \
                 AND ($4 IS NULL OR l.firing = $4) AND ($5 IS NULL OR l.recorded_at >= $5) \
                 AND ($7 IS NULL OR l.scope = $7) ORDER BY l.seq DESC LIMIT $6"
            ))
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// A lesson by its id, as it is known now.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lesson(&self, id: LessonId) -> Result<Option<LessonRow>, StoreError> {
        let row: Option<LessonRaw> = on!(self, |pool| query_as(select_lesson!(
            "FROM lesson l JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
             (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq) WHERE l.id = $1"
        ))
        .bind(id.uuid())
        .fetch_optional(pool)
        .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// Lessons that say the same in the same words, oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_alike(&self, digest: &str) -> Result<Vec<LessonRow>, StoreError> {
        let rows: Vec<LessonRaw> = on!(self, |pool| query_as(select_lesson!(
            "FROM lesson l JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
             (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq) \
             WHERE l.digest = $1 ORDER BY l.seq LIMIT 20"
        ))
        .bind(digest)
        .fetch_all(pool)
        .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// What a lesson rests on, in its order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lesson_evidence(&self, seq: i64) -> Result<Vec<Evidence>, StoreError> {
        let rows: Vec<String> = on!(self, |pool| query_scalar(
            "SELECT form FROM lesson_evidence WHERE lesson = $1 ORDER BY n"
        )
        .bind(seq)
        .fetch_all(pool)
        .await?);
        Ok(rows.iter().map(|form| evidence(form)).collect())
    }

    /// A lesson by its id, or by any part of it that no other has; hyphens do not count.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_lesson(&self, text: &str) -> Result<LessonFound, StoreError> {
        let one = |row: Option<LessonRow>| {
            row.map_or(LessonFound::Nothing, |row| LessonFound::One(Box::new(row)))
        };
        if let Ok(id) = text.parse::<LessonId>() {
            return Ok(one(self.lesson(id).await?));
        }
        let digits = text.replace('-', "").to_lowercase();
        if digits.len() < SHORTEST || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(LessonFound::Nothing);
        }
        let ids = self.lesson_ids_with(&digits).await?;
        // What tables show comes first: those digits may stand within another id too.
        let shown: Vec<LessonId> = ids
            .iter()
            .copied()
            .filter(|id| id.short() == digits)
            .collect();
        let ids = if shown.is_empty() { ids } else { shown };
        match ids[..] {
            [] => Ok(LessonFound::Nothing),
            [id] => Ok(one(self.lesson(id).await?)),
            _ => Ok(LessonFound::Many(ids)),
        }
    }

    /// The newest with these digits anywhere.
    async fn lesson_ids_with(&self, digits: &str) -> Result<Vec<LessonId>, StoreError> {
        let ids: Vec<(Uuid,)> = match &self.db {
            Db::Sqlite(pool) => {
                query_as(
                    "SELECT id FROM lesson WHERE instr(lower(hex(id)), $1) > 0 ORDER BY seq DESC LIMIT 10",
                )
                .bind(digits)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => {
                query_as(
                    "SELECT id FROM lesson WHERE position($1 in replace(id::text, '-', '')) > 0 \
                     ORDER BY seq DESC LIMIT 10",
                )
                .bind(digits)
                .fetch_all(pool)
                .await?
            }
        };
        Ok(ids.into_iter().map(|(id,)| id.into()).collect())
    }
}

/// Without its secrets a text may be longer than any evidence may be. That one says less must not keep the others from
/// being looked at.
fn evidence(form: &str) -> Evidence {
    form.parse().unwrap_or_else(|_| {
        let text = form.strip_prefix("note:").unwrap_or(form);
        Evidence::Note(text[..text.floor_char_boundary(NOTE)].to_owned())
    })
}
