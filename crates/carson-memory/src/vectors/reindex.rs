//! Vectors of lessons that have none of the present model: a job that can stop anywhere and goes on where it stopped.

use carson_store::{Store, StoreError, VectorRow};
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
        let todo = store
            .lessons_without_vector(embedder.model(), BATCH)
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
            VectorRow {
                lesson: *lesson,
                scale: f64::from(one.scale),
                vector: one.bytes(),
            }
        });
        let rows: Vec<VectorRow> = rows.collect();
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
