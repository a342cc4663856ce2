//! The nearest vectors by pgvector's index, where the server has it.
//!
//! The table is made when vectors are first put into it, not by a migration: servers without the extension have
//! none, and do with `lesson_vector` alone, which stays the truth. An index is of vectors of one length, so there is one
//! for each length that models commonly have; vectors of other lengths are scanned by whoever asks.

use sqlx::{PgPool, query, query_as, query_scalar};

use super::vectors::{Covered, VectorRow};
use crate::db::{Db, Store};
use crate::error::StoreError;

/// Vectors that are put in at once.
const BATCH: i64 = 500;
/// Of two who make the table at once, one waits: `carson n` in letters.
const MAKING: i64 = 0x63_61_72_73_6f_6e_6e;

/// Calls `$with!(length)` for each length that has an index.
macro_rules! lengths {
    ($with:ident) => {
        [
            $with!(256),
            $with!(384),
            $with!(512),
            $with!(768),
            $with!(1024),
            $with!(1536),
        ]
    };
}

macro_rules! index_sql {
    ($length:literal) => {
        concat!(
            "CREATE INDEX IF NOT EXISTS lesson_near_",
            $length,
            " ON lesson_near USING hnsw ((embedding::vector(",
            $length,
            ")) vector_cosine_ops) WHERE numbers = ",
            $length
        )
    };
}

macro_rules! nearest_sql {
    ($length:literal) => {
        (
            $length,
            concat!(
                "SELECT lesson, 1 - (embedding::vector(",
                $length,
                ") <=> $2::text::vector(",
                $length,
                ")) FROM lesson_near WHERE model = $1 AND numbers = ",
                $length,
                " ORDER BY embedding::vector(",
                $length,
                ") <=> $2::text::vector(",
                $length,
                ") LIMIT $3"
            ),
        )
    };
}

const INDICES: [&str; 6] = lengths!(index_sql);
const NEAREST: [(usize, &str); 6] = lengths!(nearest_sql);

impl Store {
    /// Puts vectors of a model into the server's index that it lacks, so many at most; how many, or `None` where the
    /// database has no such index.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn fill_near(&self, model: &str, most: u64) -> Result<Option<u64>, StoreError> {
        let Db::Postgres(pool) = &self.db else {
            return Ok(None);
        };
        if !has_extension(pool).await? {
            return Ok(None);
        }
        make(pool).await?;
        let mut put = 0;
        while put < most {
            let rows = lacking(pool, model).await?;
            if rows.is_empty() {
                break;
            }
            put += insert(pool, model, &rows).await?;
        }
        Ok(Some(put))
    }

    /// The lessons that are nearest by the server's index, the nearest first, each with its cosine; `None` where there is
    /// no such index, or it has not all of the model's vectors. What was found in it once is not looked for again.
    pub async fn nearest(
        &self,
        model: &str,
        wanted: &[f32],
        most: usize,
        covered: &mut Covered,
    ) -> Option<Vec<(i64, f64)>> {
        let Db::Postgres(pool) = &self.db else {
            return None;
        };
        let (_, sql) = NEAREST.iter().find(|(length, _)| *length == wanted.len())?;
        // Whatever is wrong with it: who asks has another way, which says so if the database is away.
        found(pool, sql, (model, wanted, most), covered)
            .await
            .ok()
            .flatten()
    }
}

async fn found(
    pool: &PgPool,
    sql: &'static str,
    (model, wanted, most): (&str, &[f32], usize),
    covered: &mut Covered,
) -> Result<Option<Vec<(i64, f64)>>, StoreError> {
    let there: Option<String> = query_scalar("SELECT to_regclass('lesson_near')::text")
        .fetch_one(pool)
        .await?;
    if there.is_none() {
        return Ok(None);
    }
    let (last, without): (Option<i64>, i64) = query_as(
        "SELECT MAX(v.seq), COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM lesson_near n \
         WHERE n.lesson = v.lesson AND n.model = $1 AND n.numbers = $2)) \
         FROM lesson_vector v WHERE v.model = $1 AND v.seq > $3",
    )
    .bind(model)
    .bind(i64::try_from(wanted.len()).unwrap_or(0))
    .bind(covered.near)
    .fetch_one(pool)
    .await?;
    if without > 0 {
        return Ok(None);
    }
    let mut tx = pool.begin().await?;
    // It looks at as many as are wanted, and further where vectors of another model lie between.
    query("SET LOCAL hnsw.ef_search = 200")
        .execute(&mut *tx)
        .await?;
    query("SET LOCAL hnsw.iterative_scan = strict_order")
        .execute(&mut *tx)
        .await?;
    let rows: Vec<(i64, f64)> = query_as(sql)
        .bind(model)
        .bind(written(wanted.iter().copied()))
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .fetch_all(&mut *tx)
        .await?;
    tx.commit().await?;
    if rows.is_empty() {
        // It has none of this model or, made anew, none of what was seen in it.
        *covered = Covered::default();
        return Ok(None);
    }
    covered.near = last.unwrap_or(covered.near);
    Ok(Some(rows))
}

/// Whether it is in this database, or can be put there by us.
async fn has_extension(pool: &PgPool) -> Result<bool, StoreError> {
    let there: Option<bool> = query_scalar(
        "SELECT installed_version IS NOT NULL FROM pg_available_extensions WHERE name = 'vector'",
    )
    .fetch_optional(pool)
    .await?;
    Ok(match there {
        None => false,
        Some(true) => true,
        // Where we may not, it is as if the server had none.
        Some(false) => query("CREATE EXTENSION IF NOT EXISTS vector")
            .execute(pool)
            .await
            .is_ok(),
    })
}

async fn make(pool: &PgPool) -> Result<(), StoreError> {
    let there: Option<String> = query_scalar("SELECT to_regclass('lesson_near')::text")
        .fetch_one(pool)
        .await?;
    if there.is_some() {
        return Ok(());
    }
    let mut tx = pool.begin().await?;
    query("SELECT pg_advisory_xact_lock($1)")
        .bind(MAKING)
        .execute(&mut *tx)
        .await?;
    query(
        "CREATE TABLE IF NOT EXISTS lesson_near (lesson BIGINT NOT NULL REFERENCES lesson (seq), model TEXT NOT NULL, \
         numbers BIGINT NOT NULL, embedding vector NOT NULL, PRIMARY KEY (lesson, model))",
    )
    .execute(&mut *tx)
    .await?;
    for sql in INDICES {
        query(sql).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(())
}

async fn lacking(pool: &PgPool, model: &str) -> Result<Vec<VectorRow>, StoreError> {
    let lengths: Vec<i32> = NEAREST
        .iter()
        .filter_map(|(length, _)| i32::try_from(*length).ok())
        .collect();
    Ok(query_as(
        "SELECT v.seq, v.lesson, v.scale, v.vector FROM lesson_vector v WHERE v.model = $1 \
         AND octet_length(v.vector) = ANY($2) \
         AND NOT EXISTS (SELECT 1 FROM lesson_near n WHERE n.lesson = v.lesson AND n.model = $1) \
         ORDER BY v.lesson LIMIT $3",
    )
    .bind(model)
    .bind(lengths)
    .bind(BATCH)
    .fetch_all(pool)
    .await?)
}

async fn insert(pool: &PgPool, model: &str, rows: &[VectorRow]) -> Result<u64, StoreError> {
    let lessons: Vec<i64> = rows.iter().map(|row| row.lesson).collect();
    let lengths: Vec<i64> = rows
        .iter()
        .map(|row| i64::try_from(row.vector.len()).unwrap_or(0))
        .collect();
    let vectors: Vec<String> = rows
        .iter()
        .map(|row| {
            let number = |byte: &u8| f32::from(byte.cast_signed()) * row.scale as f32;
            written(row.vector.iter().map(number))
        })
        .collect();
    // Who did the same meanwhile did it as well.
    query(
        "INSERT INTO lesson_near (lesson, model, numbers, embedding) \
         SELECT u.lesson, $1, u.numbers, u.vector::vector \
         FROM UNNEST($2::bigint[], $3::bigint[], $4::text[]) AS u (lesson, numbers, vector) \
         ON CONFLICT (lesson, model) DO NOTHING",
    )
    .bind(model)
    .bind(lessons)
    .bind(lengths)
    .bind(vectors)
    .execute(pool)
    .await?;
    Ok(u64::try_from(rows.len()).unwrap_or(0))
}

/// A vector as the server reads it.
fn written(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}
