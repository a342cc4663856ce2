//! Vectors of lessons that have none of the present model: a job that can stop anywhere and goes on where it stopped.

use carson_store::{NewVector, Store, StoreError};
use serde::Serialize;

use super::embedder::{EmbedError, Embedder};
use super::quantised::Quantised;

/// Texts that are sent at once.
const BATCH: u32 = 32;

/// How the nearest vectors are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// By an index of the database server's (pgvector).
    Index,
    /// All of them are looked at.
    Scan,
}

/// How far it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// Vectors that were made.
    pub made: u64,
    /// How the nearest are found: by an index of the server's, where it has one, else by a scan.
    pub near: Near,
    /// Why it stopped before its end.
    pub stopped: Option<EmbedError>,
}

/// Forgets the vectors of a model that have another length than it makes now: under its name another one answers. How many
/// these were, or why nobody could ask it.
///
/// # Errors
/// When the database does not answer.
pub async fn forget_other_lengths(
    store: &Store,
    embedder: &Embedder,
) -> Result<Result<u64, EmbedError>, StoreError> {
    let texts = ["How long is it?"];
    let length = match embedder.embed(&texts).await {
        Ok(vectors) => vectors.first().map_or(0, Vec::len),
        Err(error) => return Ok(Err(error)),
    };
    let forgotten = store.forget_vectors(embedder.model(), length).await?;
    Ok(Ok(forgotten))
}

/// Makes vectors until there are no lessons without one, the embedder does not answer, or so many were made.
///
/// # Errors
/// When the database does not answer.
pub async fn reindex(
    store: &Store,
    embedder: &Embedder,
    most: u64,
) -> Result<Reindexed, StoreError> {
    let (mut made, mut stopped) = (0, None);
    while made < most {
        let batch = u32::try_from(most - made).unwrap_or(BATCH).min(BATCH);
        let todo = store
            .lessons_without_vector(embedder.model(), batch)
            .await?;
        if todo.is_empty() {
            break;
        }
        let texts: Vec<&str> = todo.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = match embedder.embed(&texts).await {
            Ok(vectors) => vectors,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        let rows = todo.iter().zip(&vectors).map(|((lesson, _), vector)| {
            let one = Quantised::of(vector);
            NewVector {
                lesson: *lesson,
                scale: f64::from(one.scale),
                vector: one.bytes(),
            }
        });
        let rows: Vec<NewVector> = rows.collect();
        store.keep_vectors(embedder.model(), &rows).await?;
        made += u64::try_from(rows.len()).unwrap_or(0);
    }
    let near = match store.fill_near(embedder.model(), most).await? {
        Some(_) => Near::Index,
        None => Near::Scan,
    };
    Ok(Reindexed {
        made,
        near,
        stopped,
    })
}
