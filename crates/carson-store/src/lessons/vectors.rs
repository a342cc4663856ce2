//! What a model made of lessons' texts.

use sqlx::{query, query_as, query_scalar};

use crate::db::{Store, on, transaction};
use crate::error::StoreError;
use crate::firing::large;
use crate::row::row;

row! {
    /// A lesson's vector, in eight bits a number.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VectorRow {
        /// The lesson's place among all lessons.
        pub lesson: i64,
        /// What its numbers are multiplied with.
        pub scale: f64,
        /// Its numbers, each a signed byte.
        pub vector: Vec<u8>,
    }
}

impl Store {
    /// Keeps vectors of a model; what is there stands.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_vectors(&self, model: &str, rows: &[VectorRow]) -> Result<(), StoreError> {
        transaction!(self, |tx| {
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

    /// The vectors of a model after a lesson, in the order of lessons.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn vectors_after(
        &self,
        model: &str,
        lesson: i64,
        limit: u32,
    ) -> Result<Vec<VectorRow>, StoreError> {
        Ok(on!(self, |pool| query_as(
            "SELECT lesson, scale, vector FROM lesson_vector WHERE model = $1 AND lesson > $2 \
             ORDER BY lesson LIMIT $3"
        )
        .bind(model)
        .bind(lesson)
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
