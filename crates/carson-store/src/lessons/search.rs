//! Finding lessons by their words.

use sqlx::query_as;

use super::rows::{LessonRaw, LessonRow, Times, select_lesson};
use crate::db::{Db, Store};
use crate::error::StoreError;

/// How many of the best are looked at, round by round, until enough of them are believed.
const ROUNDS: [i64; 3] = [200, 2_000, 20_000];

/// A lesson that has some of the words; the best come first.
pub type Hit = LessonRow;

impl Store {
    /// The believed lessons that have the most telling of these words, the best first; at least `want` of them where
    /// there are so many. Words have letters and digits only; others find nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_with(
        &self,
        words: &[String],
        times: Times,
        want: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        let plain = |word: &&String| !word.is_empty() && word.chars().all(char::is_alphanumeric);
        let words: Vec<&String> = words.iter().filter(plain).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for most in ROUNDS {
            found = self.best_with(&words, times, most).await?;
            if found.len() >= want {
                break;
            }
        }
        Ok(found)
    }

    /// Those of these lessons that are believed, in any order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_by_seq(
        &self,
        seqs: &[i64],
        times: Times,
    ) -> Result<Vec<LessonRow>, StoreError> {
        if seqs.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<LessonRaw> = match &self.db {
            Db::Sqlite(pool) => {
                query_as(select_lesson!(
                    "FROM json_each($1) r JOIN lesson l ON l.seq = r.value \
                     JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                     (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $2) \
                     WHERE c.valid_from <= $3 AND (c.valid_to IS NULL OR c.valid_to > $3)"
                ))
                .bind(serde_json::json!(seqs).to_string())
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => {
                query_as(select_lesson!(
                    "FROM lesson l JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                     (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $2) \
                     WHERE l.seq = ANY($1) AND c.valid_from <= $3 AND (c.valid_to IS NULL OR c.valid_to > $3)"
                ))
                .bind(seqs)
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_all(pool)
                .await?
            }
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }

    async fn best_with(
        &self,
        words: &[&String],
        times: Times,
        most: i64,
    ) -> Result<Vec<Hit>, StoreError> {
        let joined = |quote: &str, between: &str| {
            let quoted = words.iter().map(|word| format!("{quote}{word}{quote}"));
            quoted.collect::<Vec<_>>().join(between)
        };
        let rows: Vec<LessonRaw> = match &self.db {
            Db::Sqlite(pool) => {
                query_as(select_lesson!(
                    "FROM (SELECT rowid AS doc, rank AS score FROM lesson_words WHERE lesson_words MATCH $1 \
                     ORDER BY rank LIMIT $2) f \
                     JOIN lesson l ON l.seq = f.doc JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                     (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $3) \
                     WHERE c.valid_from <= $4 AND (c.valid_to IS NULL OR c.valid_to > $4) \
                     ORDER BY f.score, l.seq"
                ))
                .bind(joined("\"", " OR "))
                .bind(most)
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_all(pool)
                .await?
            }
            Db::Postgres(pool) => {
                query_as(select_lesson!(
                    "FROM (SELECT seq AS doc, \
                     ts_rank(array_to_tsvector(string_to_array(words, ' ')), $1::text::tsquery) AS score FROM lesson \
                     WHERE array_to_tsvector(string_to_array(words, ' ')) @@ $1::text::tsquery \
                     ORDER BY score DESC, seq LIMIT $2) f \
                     JOIN lesson l ON l.seq = f.doc JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
                     (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $3) \
                     WHERE c.valid_from <= $4 AND (c.valid_to IS NULL OR c.valid_to > $4) \
                     ORDER BY f.score DESC, l.seq"
                ))
                .bind(joined("'", " | "))
                .bind(most)
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_all(pool)
                .await?
            }
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
