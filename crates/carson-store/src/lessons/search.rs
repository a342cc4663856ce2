//! Finding lessons by their words.

use serde::de::DeserializeOwned;
use serde_json::json;
use sqlx::{query_as, query_scalar};

use super::rows::{LessonRaw, LessonRow, Times, select_lesson};
use crate::away::patiently;
use crate::db::{Db, Store, on};
use crate::error::StoreError;
use crate::firing::large;

/// Lessons of one word that are looked at.
const MOST: i64 = 20_000;

/// The lessons `l` of those `r` that are believed, each with the change `c` that counts.
macro_rules! believed {
    ($those:literal) => {
        concat!(
            "FROM ",
            $those,
            " JOIN lesson l ON l.seq = r.value JOIN lesson_change c ON c.lesson = l.seq AND c.n = \
             (SELECT MAX(k.n) FROM lesson_change k WHERE k.lesson = l.seq AND k.at <= $2) \
             WHERE c.valid_from <= $3 AND (c.valid_to IS NULL OR c.valid_to > $3)"
        )
    };
}

/// What stands in a column that holds a list as JSON.
fn listed<T: DeserializeOwned>(column: &'static str, list: &str) -> Result<T, StoreError> {
    serde_json::from_str(list).map_err(|error| StoreError::Row {
        column,
        value: error.to_string(),
    })
}

impl Store {
    /// Where words stand: for each that some lesson has, believed or not, the places of those lessons among all, 20,000
    /// at most. Words have letters and digits only; others stand nowhere.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_having(
        &self,
        words: &[String],
    ) -> Result<Vec<(String, Vec<i64>)>, StoreError> {
        let plain = |word: &&String| !word.is_empty() && word.chars().all(char::is_alphanumeric);
        let words: Vec<&str> = words.iter().filter(plain).map(String::as_str).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = match &self.db {
            Db::Sqlite(pool) => {
                // One row for each word: a row for each lesson would take ten times as long.
                let rows: Vec<(String, String)> = query_as(
                    "SELECT w.value, (SELECT json_group_array(f.rowid) FROM (SELECT rowid FROM lesson_words \
                     WHERE lesson_words MATCH '\"' || w.value || '\"' LIMIT $2) f) FROM json_each($1) w",
                )
                .bind(json!(words).to_string())
                .bind(MOST)
                .fetch_all(pool)
                .await?;
                let parsed = rows
                    .into_iter()
                    .map(|(word, lessons)| Ok((word, listed("lesson_words.rowid", &lessons)?)));
                parsed.collect::<Result<_, StoreError>>()?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as(
                    "SELECT w.word, COALESCE((SELECT array_agg(f.seq) FROM (SELECT seq FROM lesson \
                     WHERE array_to_tsvector(string_to_array(words, ' ')) @@ ('''' || w.word || '''')::tsquery \
                     LIMIT $2) f), '{}') FROM unnest($1::text[]) AS w (word)",
                )
                .bind(&words)
                .bind(MOST)
                .fetch_all(pool)
                .await?
            ),
        };
        found.retain(|(_, lessons): &(String, Vec<i64>)| !lessons.is_empty());
        Ok(found)
    }

    /// How many lessons were ever written down, believed or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_written(&self) -> Result<u64, StoreError> {
        // None is ever deleted: the last one's place is their number, but for those whose writing failed.
        let last: Option<i64> = on!(self, |pool| query_scalar("SELECT MAX(seq) FROM lesson")
            .fetch_one(pool)
            .await?);
        Ok(large(last.unwrap_or(0)))
    }

    /// Those of these lessons that are believed, each with its words as they are searched, in any order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn searched_words(
        &self,
        seqs: &[i64],
        times: Times,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        if seqs.is_empty() {
            return Ok(Vec::new());
        }
        // One row again.
        let list: String = match &self.db {
            Db::Sqlite(pool) => {
                query_scalar(concat!(
                    "SELECT json_group_array(json_array(l.seq, l.words)) ",
                    believed!("json_each($1) r")
                ))
                .bind(json!(seqs).to_string())
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_one(pool)
                .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_scalar(concat!(
                    "SELECT COALESCE(json_agg(json_build_array(l.seq, l.words))::text, '[]') ",
                    believed!("unnest($1::bigint[]) r (value)")
                ))
                .bind(seqs)
                .bind(times.known_at)
                .bind(times.as_of)
                .fetch_one(pool)
                .await?
            ),
        };
        listed("lesson.words", &list)
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
                query_as(select_lesson!(believed!("json_each($1) r")))
                    .bind(json!(seqs).to_string())
                    .bind(times.known_at)
                    .bind(times.as_of)
                    .fetch_all(pool)
                    .await?
            }
            Db::Postgres(pool) => patiently!(
                self,
                query_as(select_lesson!(believed!("unnest($1::bigint[]) r (value)")))
                    .bind(seqs)
                    .bind(times.known_at)
                    .bind(times.as_of)
                    .fetch_all(pool)
                    .await?
            ),
        };
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
