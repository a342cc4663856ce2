//! What a model made of lessons' texts.

use sqlx::{query, query_as, query_scalar};

use crate::db::{Db, Store, on, transaction};
use crate::error::StoreError;
use crate::firing::large;
use crate::row::row;

/// A lesson's vector, in eight bits a number.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVector {
    /// The lesson's place among all lessons.
    pub lesson: i64,
    /// What its numbers are multiplied with.
    pub scale: f64,
    /// Its numbers, each a signed byte.
    pub vector: Vec<u8>,
}

row! {
    /// The same, as it is kept.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VectorRow {
        /// Its place among all vectors: what is made later comes later.
        pub seq: i64,
        /// The lesson's place among all lessons.
        pub lesson: i64,
        /// What its numbers are multiplied with.
        pub scale: f64,
        /// Its numbers, each a signed byte.
        pub vector: Vec<u8>,
    }
}

/// Up to where all that is believed is known to have its vector of a model, so that nobody looks at all of it each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The last change of a lesson that was looked at.
    pub(super) changes: i64,
    /// The last vector that was looked for in the server's index.
    pub(super) near: i64,
}

impl Store {
    /// Keeps vectors of a model; what is there stands.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_vectors(&self, model: &str, rows: &[NewVector]) -> Result<(), StoreError> {
        transaction!(self, |tx| {
            if let Db::Postgres(_) = &self.db {
                // Who reads on after the last one sees those before it: SQLite has one writer at a time anyway.
                query("LOCK TABLE lesson_vector IN EXCLUSIVE MODE")
                    .execute(&mut *tx)
                    .await?;
            }
            for row in rows {
                query(
                    "INSERT INTO lesson_vector (lesson, model, scale, vector) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (lesson, model) DO NOTHING",
                )
                .bind(row.lesson)
                .bind(model)
                .bind(row.scale)
                .bind(row.vector.as_slice())
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// Forgets the vectors of a model that are not so long; how many. They are made of what stays: nothing is lost but time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_vectors(&self, model: &str, length: usize) -> Result<u64, StoreError> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let rows = match &self.db {
            Db::Sqlite(pool) => {
                query("DELETE FROM lesson_vector WHERE model = $1 AND length(vector) <> $2")
                    .bind(model)
                    .bind(length)
                    .execute(pool)
                    .await?
                    .rows_affected()
            }
            Db::Postgres(pool) => {
                let there: Option<String> = query_scalar("SELECT to_regclass('lesson_near')::text")
                    .fetch_one(pool)
                    .await?;
                if there.is_some() {
                    query("DELETE FROM lesson_near WHERE model = $1 AND numbers <> $2")
                        .bind(model)
                        .bind(length)
                        .execute(pool)
                        .await?;
                }
                query("DELETE FROM lesson_vector WHERE model = $1 AND octet_length(vector) <> $2")
                    .bind(model)
                    .bind(length)
                    .execute(pool)
                    .await?
                    .rows_affected()
            }
        };
        Ok(rows)
    }

    /// The vectors of a model after one, in the order in which they were made.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn vectors_after(
        &self,
        model: &str,
        seq: i64,
        limit: u32,
    ) -> Result<Vec<VectorRow>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT seq, lesson, scale, vector FROM lesson_vector WHERE model = $1 AND seq > $2 \
             ORDER BY seq LIMIT $3"
        )
        .bind(model)
        .bind(seq)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?))
    }

    /// Lessons that are or were believed and have no vector of this model yet, with their texts, in their order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lessons_without_vector(
        &self,
        model: &str,
        limit: u32,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        Ok(on!(self, |pool| {
            query_as(
            "SELECT l.seq, l.text FROM lesson l WHERE NOT EXISTS \
             (SELECT 1 FROM lesson_vector v WHERE v.lesson = l.seq AND v.model = $1) \
             AND EXISTS (SELECT 1 FROM lesson_change c WHERE c.lesson = l.seq AND c.valid_from IS NOT NULL) \
             ORDER BY l.seq LIMIT $2"
        )
        .bind(model)
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?
        }))
    }

    /// Whether all that is or was believed has a vector of this model. What was seen to be so is not looked at again: lessons
    /// are never deleted, and vectors only to be made anew.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_covered(&self, model: &str, covered: &mut Covered) -> Result<bool, StoreError> {
        let (last, without): (Option<i64>, i64) = on!(self, |pool| query_as(
            "SELECT MAX(c.seq), COUNT(*) FILTER (WHERE NOT EXISTS \
             (SELECT 1 FROM lesson_vector v WHERE v.lesson = c.lesson AND v.model = $1)) \
             FROM lesson_change c WHERE c.seq > $2 AND c.valid_from IS NOT NULL"
        )
        .bind(model)
        .bind(covered.changes)
        .fetch_one(pool)
        .await?);
        if without > 0 {
            return Ok(false);
        }
        covered.changes = last.unwrap_or(covered.changes);
        Ok(true)
    }

    /// How many lessons are or were believed, and how many of them have a vector of this model.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn vector_coverage(&self, model: &str) -> Result<(u64, u64), StoreError> {
        let believed: i64 = on!(self, |pool| query_scalar(
            "SELECT COUNT(DISTINCT lesson) FROM lesson_change WHERE valid_from IS NOT NULL"
        )
        .fetch_one(pool)
        .await?);
        let indexed: i64 = on!(self, |pool| query_scalar(
            "SELECT COUNT(*) FROM lesson_vector WHERE model = $1"
        )
        .bind(model)
        .fetch_one(pool)
        .await?);
        Ok((large(believed), large(indexed)))
    }
}
